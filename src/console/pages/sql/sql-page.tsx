import { useEffect, useRef, useState } from 'preact/hooks';
import { isAbort, ServiceError, sendForJson } from '../../api/api-client.ts';
import { type DownloadFormat, download, downloadFormats } from '../../api/download.ts';
import { runQuery } from '../../api/run-query.ts';
import { parameters, setParameters } from '../../state/address.ts';
import { QueryRun } from '../../state/query-run.ts';
import { writeKept } from '../../state/settings.ts';
import { Icon } from '../../ui/icon.tsx';
import { JsonTree } from '../../ui/json-tree.tsx';
import { maxGridRows, ResultGrid } from '../../ui/result-grid.tsx';
import type { SqlEditor } from '../../ui/sql-editor.ts';
import { bytesText, countText, elapsedText } from '../../ui/time-text.ts';
import { ErrorBanner, Progress, ViewState } from '../../ui/view-state.tsx';
import { ResultChart, shapeOf } from './result-chart.tsx';
import {
  activeTab,
  changeSql,
  chooseTab,
  closeTab,
  openTab,
  remember,
  sqlHistory,
  tabs,
} from './sql-tabs.ts';

const schemaSql =
  "SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = 'public' ORDER BY table_name, ordinal_position LIMIT 20000";

/** One run for each tab, so that going to another tab loses nothing. */
const runs = new Map<string, QueryRun>();
function runOf(id: string): QueryRun {
  const known = runs.get(id) ?? new QueryRun();
  runs.set(id, known);
  return known;
}

type View = 'table' | 'chart' | 'explain';

/** SQL with an editor, and its result as a table or a chart. */
export function SqlPage() {
  const editor = useRef<SqlEditor | undefined>(undefined);
  const holder = useRef<HTMLDivElement>(null);
  const [isReady, setIsReady] = useState(false);
  const [view, setView] = useState<View>('table');
  const [explained, setExplained] = useState<unknown>();
  const { active } = tabs.value;
  const query = runOf(active);
  const { isLoading, result, error, retryAtMs, sql: ran } = query.state.value;

  const start = () => {
    const chosen = editor.current?.chosenText();
    if (chosen === undefined || chosen.sql.trim() === '') return;
    editor.current?.setError(undefined);
    offsets.set(tabs.peek().active, chosen.offset);
    remember(chosen.sql);
    if (view === 'explain') setView('table');
    void runOf(tabs.peek().active).run(chosen.sql);
  };
  const startLatest = useRef(start);
  startLatest.current = start;
  const explain = async () => {
    const chosen = editor.current?.chosenText();
    if (chosen === undefined) return;
    setView('explain');
    setExplained(undefined);
    try {
      setExplained(
        await sendForJson('api/v1/query/explain', { method: 'POST', body: { query: chosen.sql } }),
      );
    } catch (thrown) {
      setExplained(thrown);
    }
  };

  useEffect(() => {
    writeKept('page', 'sql');
    const sent = parameters.peek().get('sql');
    if (sent !== null) {
      openTab(sent);
      setParameters({ sql: undefined }, true);
    }
  }, []);
  useEffect(() => {
    let isGone = false;
    const abort = new AbortController();
    void import('../../ui/sql-editor.ts').then(({ createSqlEditor }) => {
      if (isGone || holder.current === null) return;
      editor.current = createSqlEditor(holder.current, {
        text: activeTab()?.sql ?? '',
        onChange: (text) => changeSql(tabs.peek().active, text),
        onRun: () => startLatest.current(),
      });
      setIsReady(true);
      editor.current.focus();
      loadSchema(abort.signal).then(
        (schema) => editor.current?.setSchema(schema),
        // Completion is a help; without it, the page works as well.
        () => undefined,
      );
    });
    return () => {
      isGone = true;
      abort.abort();
      editor.current?.destroy();
      editor.current = undefined;
    };
  }, []);
  useEffect(() => {
    const text = activeTab()?.sql ?? '';
    if (editor.current !== undefined && editor.current.text() !== text) editor.current.setText(text);
    setView('table');
  }, [active]);
  useEffect(() => {
    const from = error === undefined ? undefined : errorOffset(error, ran);
    editor.current?.setError(
      error === undefined || from === undefined
        ? undefined
        : { from: from + (offsets.get(active) ?? 0), message: error.message },
    );
  }, [error, active, isReady]);

  const canChart = result !== undefined && shapeOf(result.columns) !== undefined;
  return (
    <div class="sql-page">
      <h1 class="visually-hidden">SQL</h1>
      <div class="sql-tabs">
        {tabs.value.tabs.map(({ id, name }) => (
          <div key={id} class={`sql-tab ${id === active ? 'active' : ''}`}>
            <button
              type="button"
              class="button quiet small"
              aria-pressed={id === active}
              onClick={() => chooseTab(id)}
            >
              {name}
            </button>
            <button
              type="button"
              class="button quiet small"
              aria-label={`Close ${name}`}
              onClick={() => {
                runs.get(id)?.clear();
                runs.delete(id);
                closeTab(id);
              }}
            >
              <Icon name="close" />
            </button>
          </div>
        ))}
        <button type="button" class="button quiet small" aria-label="New query" onClick={() => openTab('')}>
          <Icon name="plus" />
        </button>
        <span class="spacer" />
        <HistoryMenu />
        <button type="button" class="button small" onClick={() => void explain()}>
          Explain
        </button>
        {isLoading ? (
          <button type="button" class="button small" onClick={() => query.cancel()}>
            <Icon name="stop" />
            Cancel
          </button>
        ) : (
          <button
            type="button"
            class="button small primary"
            data-key="r"
            title="Run (Ctrl+Enter)"
            onClick={start}
          >
            <Icon name="run" />
            Run
          </button>
        )}
      </div>
      <div class="editor" ref={holder} />
      <Progress isActive={isLoading} label="Running the query" />
      <div class="rows-bar">
        <div class="segments" role="group" aria-label="Show the result as">
          <button
            type="button"
            class="button quiet small"
            aria-pressed={view === 'table'}
            onClick={() => setView('table')}
          >
            <Icon name="table" />
            Table
          </button>
          <button
            type="button"
            class="button quiet small"
            aria-pressed={view === 'chart'}
            disabled={!canChart}
            title={canChart ? undefined : 'A chart needs numbers, and a time or a text'}
            onClick={() => setView('chart')}
          >
            <Icon name="chart" />
            Chart
          </button>
        </div>
        <ResultSummary query={query} />
        <span class="spacer" />
        {result === undefined || ran === '' ? null : <ResultDownloads sql={ran} />}
      </div>
      <div class="result">
        {error === undefined || view === 'explain' ? null : (
          <div class="pad">
            <ErrorBanner error={error} retryAtMs={retryAtMs} />
          </div>
        )}
        {view === 'explain' ? (
          <Explanation value={explained} />
        ) : result === undefined ? (
          error === undefined && !isLoading ? (
            <ViewState icon="sql" title="No result yet">
              <p>
                Write a SELECT of PostgreSQL and press <kbd>Ctrl</kbd> <kbd>Enter</kbd>. What is marked runs
                alone.
              </p>
            </ViewState>
          ) : null
        ) : view === 'chart' && canChart ? (
          <ResultChart result={result} />
        ) : error === undefined ? (
          <ResultGrid key={`${active}${ran}`} result={result} />
        ) : null}
      </div>
    </div>
  );
}

/** Where in the text of a tab its last run began: a part may have been marked. */
const offsets = new Map<string, number>();

/** The offset in the SQL that an error is about, from its line and column. */
function errorOffset({ problem }: ServiceError, sql: string): number | undefined {
  const { line, column } = problem;
  if (typeof line !== 'number' || typeof column !== 'number') return undefined;
  const before = sql.split('\n').slice(0, line - 1);
  return before.reduce((sum, text) => sum + text.length + 1, 0) + column - 1;
}

async function loadSchema(signal: AbortSignal): Promise<Readonly<Record<string, readonly string[]>>> {
  const { rows } = await runQuery(schemaSql, { signal });
  const schema = new Map<string, string[]>();
  for (const [table, column] of rows) {
    const columns = schema.get(String(table)) ?? [];
    schema.set(String(table), columns);
    columns.push(String(column));
  }
  return Object.fromEntries(schema);
}

function ResultSummary({ query }: { readonly query: QueryRun }) {
  const { isLoading, result, error } = query.state.value;
  if (isLoading) return <Elapsed />;
  if (result === undefined || error !== undefined) return null;
  const { elapsedMs, rowsRead, bytesRead } = result.statistics;
  const count = result.rows.length;
  return (
    <span class="muted numeric">
      {countText(count)} {count === 1 ? 'row' : 'rows'}
      {count > maxGridRows ? `, the first ${countText(maxGridRows)} shown` : ''} in {elapsedText(elapsedMs)}
      {rowsRead === undefined ? '' : `, ${countText(rowsRead)} read`}
      {bytesRead === undefined ? '' : ` (${bytesText(bytesRead)})`}
    </span>
  );
}

/** The seconds of a query that runs. */
function Elapsed() {
  const [ms, setMs] = useState(0);
  useEffect(() => {
    const startedMs = performance.now();
    const timer = setInterval(() => setMs(performance.now() - startedMs), 100);
    return () => clearInterval(timer);
  }, []);
  return <span class="muted numeric">Running, {(ms / 1000).toFixed(1)} s</span>;
}

function HistoryMenu() {
  const all = sqlHistory.value;
  return (
    <>
      <button
        type="button"
        class="button quiet small"
        popovertarget="sql-history"
        disabled={all.length === 0}
      >
        <Icon name="clock" />
        History
      </button>
      <div id="sql-history" popover="auto" class="history-menu">
        <ul>
          {all.map((sql) => (
            <li key={sql}>
              <button
                type="button"
                class="button quiet small mono"
                onClick={(event) => {
                  event.currentTarget.closest<HTMLElement>('[popover]')?.hidePopover();
                  openTab(sql);
                }}
              >
                <span class="truncated">{sql.replace(/\s+/g, ' ')}</span>
              </button>
            </li>
          ))}
        </ul>
      </div>
    </>
  );
}

function ResultDownloads({ sql }: { readonly sql: string }) {
  const [state, setState] = useState<'idle' | 'busy' | Error>('idle');
  const start = (format: DownloadFormat) => {
    setState('busy');
    download(sql, format, 'result').then(
      () => setState('idle'),
      (error: unknown) => setState(isAbort(error) || !(error instanceof Error) ? 'idle' : error),
    );
  };
  return (
    <>
      {state instanceof Error ? <span class="wrong">{state.message}</span> : null}
      {downloadFormats.map((format) => (
        <button
          key={format}
          type="button"
          class="button quiet small"
          disabled={state === 'busy'}
          title={`Download the whole result as ${format}`}
          onClick={() => start(format)}
        >
          <Icon name="download" />
          {format === 'parquet' ? 'Parquet' : format.toUpperCase()}
        </button>
      ))}
    </>
  );
}

function Explanation({ value }: { readonly value: unknown }) {
  if (value === undefined) return <ViewState icon="clock" title="Translating…" />;
  if (value instanceof ServiceError) {
    return (
      <div class="pad">
        <ErrorBanner error={value} />
      </div>
    );
  }
  return (
    <div class="explanation mono">
      <JsonTree value={value} />
    </div>
  );
}
