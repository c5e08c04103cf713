import { useEffect, useRef, useState } from 'preact/hooks';
import { isAbort, ServiceError } from '../../api/api-client.ts';
import { type DownloadFormat, download, downloadFormats } from '../../api/download.ts';
import { boundsOf, type TimeRange } from '../../query/chosen-range.ts';
import { allRowsSql, rowsSql } from '../../query/explore-sql.ts';
import { withCondition } from '../../query/search-language.ts';
import { maxTailRows } from '../../query/tail-rows.ts';
import { followLink, hrefOf, parameters, setParameters } from '../../state/address.ts';
import { readKept, timeZone, writeKept } from '../../state/settings.ts';
import { CopyButton } from '../../ui/copy-button.tsx';
import { Icon } from '../../ui/icon.tsx';
import { TimePicker } from '../../ui/time-picker.tsx';
import { bytesText, countText, elapsedText } from '../../ui/time-text.ts';
import { ErrorBanner, Progress, ViewState } from '../../ui/view-state.tsx';
import { ExploreHistogram } from './explore-histogram.tsx';
import {
  asked,
  bars,
  datasetName,
  datasets,
  datasetsError,
  fetchMore,
  fields,
  inAllText,
  loadDatasets,
  loadFields,
  range,
  rowLimit,
  rowSteps,
  rows,
  run,
  search,
  searchError,
  setRange,
  shownColumns,
  toggleColumn,
} from './explore-query.ts';
import { FieldList } from './field-list.tsx';
import { LogRows } from './log-rows.tsx';
import { type TailPhase, tail } from './tail.ts';

/** Search in logs and events: what is there, when, and what one row says. */
export function ExplorePage() {
  const [fieldsError, setFieldsError] = useState<ServiceError | undefined>();
  const dataset = datasetName.value;
  useEffect(() => {
    writeKept('page', 'explore');
    const zone = parameters.peek().get('tz');
    if (zone !== null) timeZone.value = zone;
    const abort = new AbortController();
    void loadDatasets(abort.signal);
    return () => {
      abort.abort();
      tail.stop();
      rows.clear();
      bars.clear();
    };
  }, []);
  const known = datasets.value;
  useEffect(() => {
    if (dataset === '' && known !== undefined) {
      const kept = readKept('dataset') ?? '';
      const first = known.includes(kept) ? kept : known.find((name) => name !== 'millrace_audit');
      const choice = first ?? known[0];
      if (choice !== undefined) setParameters({ dataset: choice }, true);
    }
  }, [dataset, known]);
  useEffect(() => {
    if (dataset === '') return undefined;
    writeKept('dataset', dataset);
    const abort = new AbortController();
    fields.value = undefined;
    setFieldsError(undefined);
    rows.clear();
    bars.clear();
    loadFields(dataset, abort.signal).catch((error: unknown) => {
      if (!isAbort(error) && !abort.signal.aborted) {
        setFieldsError(
          error instanceof ServiceError ? error : new ServiceError(0, { detail: String(error) }),
        );
      }
    });
    return () => abort.abort();
  }, [dataset]);
  const { from, to } = range.value;
  useEffect(() => {
    tail.stop();
    run();
  }, [fields.value, search.value, inAllText.value, from, to]);

  if (known !== undefined && known.length === 0) return <NothingYet />;
  return (
    <div class="explore">
      <h1 class="visually-hidden">Explore</h1>
      <Toolbar />
      {datasetsError.value !== undefined && known === undefined ? (
        <ErrorBanner error={asServiceError(datasetsError.value)} />
      ) : null}
      {fieldsError === undefined ? <Body /> : <ErrorBanner error={fieldsError} />}
    </div>
  );
}

const asServiceError = (error: Error): ServiceError =>
  error instanceof ServiceError ? error : new ServiceError(0, { detail: error.message });

const NothingYet = () => (
  <ViewState icon="empty" title="There is nothing to explore yet">
    <p>No dataset exists that you may read. Send some data, and it shows up here.</p>
    <a class="button primary" href={hrefOf('start')} onClick={(event) => followLink(event, 'start')}>
      Send data
    </a>
  </ViewState>
);

function Toolbar() {
  const [typed, setTyped] = useState(search.value);
  useEffect(() => setTyped(search.value), [search.value]);
  const error = searchError.value;
  const isTailing = tail.isOn.value;
  return (
    <div class="toolbar">
      <label>
        <span class="visually-hidden">Dataset</span>
        <select
          class="select dataset-select"
          value={datasetName.value}
          onChange={(event) =>
            setParameters({ dataset: event.currentTarget.value, q: undefined, columns: undefined })
          }
        >
          {(datasets.value ?? [datasetName.value]).map((name) => (
            <option key={name} value={name}>
              {name}
            </option>
          ))}
        </select>
      </label>
      <form
        class="search"
        role="search"
        onSubmit={(event) => {
          event.preventDefault();
          // The same search again asks again.
          if (typed.trim() === search.peek()) run();
          else setParameters({ q: typed.trim() === '' ? undefined : typed.trim() });
        }}
      >
        <Icon name="explore" />
        <input
          class="field mono"
          type="search"
          value={typed}
          data-key="/"
          aria-label="Search"
          aria-invalid={error !== undefined}
          aria-describedby={error === undefined ? undefined : 'search-error'}
          placeholder={'timeout level:error status>=500 -path:/health*'}
          spellcheck={false}
          autocapitalize="none"
          autocomplete="off"
          onInput={(event) => setTyped(event.currentTarget.value)}
        />
        <button
          type="button"
          class="button quiet small"
          aria-pressed={inAllText.value}
          title="Look for words in every text field, not in the message alone"
          onClick={() => setParameters({ all: inAllText.peek() ? undefined : '1' })}
        >
          All text
        </button>
        {error === undefined ? null : (
          <p id="search-error" class="search-error" role="alert">
            {error.message}
          </p>
        )}
      </form>
      <TimePicker range={range.value} onChange={setRange} />
      <button
        type="button"
        class={`button ${isTailing ? 'live' : ''}`}
        aria-pressed={isTailing}
        title="Show new rows as they arrive, whatever time they carry"
        onClick={() => {
          const now = asked.peek();
          if (isTailing) {
            tail.stop();
            run();
          } else if (now !== undefined) tail.start(now.question);
        }}
      >
        <Icon name="tail" />
        Live
      </button>
      <button
        type="button"
        class="button primary"
        data-key="r"
        title="Run again (r)"
        onClick={() => {
          tail.stop();
          if (typed.trim() === search.peek()) run();
          else setParameters({ q: typed.trim() === '' ? undefined : typed.trim() });
        }}
      >
        <Icon name="run" />
        Run
      </button>
    </div>
  );
}

const zoomedFrom: TimeRange[] = [];

function Body() {
  const [isWrapped, setIsWrapped] = useState(readKept('wrap') === 'yes');
  const [hasFields, setHasFields] = useState(readKept('fields') !== 'no' && innerWidth >= 900);
  const isReading = useRef(false);
  const described = fields.value;
  const { isLoading, result, error, retryAtMs } = rows.state.value;
  const { state: tailState } = tail;
  const isTailing = tail.isOn.value;
  useEffect(() => {
    tail.isPaused = () => isReading.current || getSelection()?.isCollapsed === false;
  }, []);
  if (described === undefined) {
    return (
      <>
        <Progress isActive label="Loading fields" />
        <div class="histogram" />
      </>
    );
  }
  if (described === null) {
    return (
      <ViewState title="This dataset cannot be explored">
        <p>
          It has no column of times, or no rows yet. Metrics are shown by <a href={hrefOf('sql')}>SQL</a>.
        </p>
      </ViewState>
    );
  }
  const filter = (field: string, value: string | null, isExcluded: boolean) => {
    setParameters({ q: withCondition(search.peek(), field, value, isExcluded) });
  };
  const list = isTailing ? tailState.value.rows : (result?.rows ?? []);
  const columns = isTailing ? tailState.value.columns : (result?.columns ?? []);
  const question = asked.value?.question;
  return (
    <>
      {isTailing ? null : (
        <ExploreHistogram
          asked={asked.value}
          onZoom={(next) => {
            zoomedFrom.push(range.peek());
            setRange(next);
          }}
          onZoomOut={() => {
            const before = zoomedFrom.pop();
            if (before !== undefined) setRange(before);
          }}
        />
      )}
      <div class="rows-bar">
        <button
          type="button"
          class="button quiet small"
          aria-pressed={hasFields}
          onClick={() => {
            writeKept('fields', hasFields ? 'no' : 'yes');
            setHasFields(!hasFields);
          }}
        >
          <Icon name="fields" />
          Fields
        </button>
        <button
          type="button"
          class="button quiet small"
          aria-pressed={isWrapped}
          onClick={() => {
            writeKept('wrap', isWrapped ? 'no' : 'yes');
            setIsWrapped(!isWrapped);
          }}
        >
          <Icon name="wrap" />
          Wrap
        </button>
        <RunSummary />
        <span class="spacer" />
        {question === undefined ? null : (
          <>
            <a
              class="button quiet small"
              href={hrefOf('sql', { sql: rowsSql(question, rowSteps[0]) })}
              onClick={(event) => followLink(event, 'sql', { sql: rowsSql(question, rowSteps[0]) })}
            >
              <Icon name="sql" />
              Open in SQL
            </a>
            <CopyButton text={shareLink} label="Share" />
            <Downloads sql={allRowsSql(question)} name={datasetName.value} />
          </>
        )}
      </div>
      <Progress isActive={isLoading} label="Loading rows" />
      {error === undefined || isTailing ? null : (
        <div class="pad">
          <ErrorBanner error={error} retryAtMs={retryAtMs} />
        </div>
      )}
      {isTailing ? <TailEnd /> : null}
      <div class={`explore-body ${hasFields ? '' : 'without-fields'}`}>
        {hasFields ? (
          <FieldList
            dataset={described}
            question={question}
            shown={shownColumns.value}
            onFilter={filter}
            onToggleColumn={toggleColumn}
          />
        ) : null}
        <div class="rows-holder">
          {isTailing ? <WaitingRows /> : null}
          {list.length === 0 && (isTailing || (!isLoading && error === undefined)) ? (
            <EmptyRows isTailing={isTailing} />
          ) : (
            <LogRows
              key={`${datasetName.value}${isTailing}`}
              dataset={described}
              columns={columns}
              rows={list}
              shown={shownColumns.value}
              isWrapped={isWrapped}
              onFilter={filter}
              onToggleColumn={toggleColumn}
              onEnd={isTailing ? () => {} : fetchMore}
              onReading={(reads) => {
                isReading.current = reads;
              }}
            />
          )}
        </div>
      </div>
    </>
  );
}

function RunSummary() {
  const { isLoading, result } = rows.state.value;
  if (tail.isOn.value) {
    return <TailSummary />;
  }
  if (isLoading) {
    return (
      <>
        <span class="muted">Running…</span>
        <button type="button" class="button quiet small" onClick={() => rows.cancel()}>
          <Icon name="stop" />
          Cancel
        </button>
      </>
    );
  }
  if (result === undefined) return null;
  const { elapsedMs, rowsRead, bytesRead } = result.statistics;
  const isPart = result.rows.length >= rowLimit.value;
  return (
    <span class="muted numeric">
      {isPart ? `newest ${countText(result.rows.length)}` : countText(result.rows.length)} rows in{' '}
      {elapsedText(elapsedMs)}
      {rowsRead === undefined ? '' : `, ${countText(rowsRead)} read`}
      {bytesRead === undefined ? '' : ` (${bytesText(bytesRead)})`}
    </span>
  );
}

const phaseTexts: Readonly<Record<TailPhase['kind'], string>> = {
  connecting: 'Live is connecting',
  following: 'Live',
  waiting: 'Live is interrupted',
  ended: 'Live has ended',
};

const skipReasons: Readonly<Record<string, string>> = {
  rate: 'more came than Live shows; a narrower search shows all',
  slow: 'the browser was too slow',
  query: 'the store was too slow',
  position: 'the place to go on was lost',
};

/** What Live does, what it shows, and what it does not. */
function TailSummary() {
  const { phase, rows: shown, skipped } = tail.state.value;
  const { rows: left, hasUncounted, reasons } = skipped;
  const number = [left > 0 ? countText(left) : '', hasUncounted ? 'an unknown number' : '']
    .filter((text) => text !== '')
    .join(' and ');
  return (
    <>
      <span class="muted numeric">
        {phaseTexts[phase.kind]}: {countText(shown.length)} {shown.length === 1 ? 'row' : 'rows'}, last
        arrival first
      </span>
      {number === '' ? null : (
        <span class="skipped-rows numeric">
          <Icon name="warning" />
          {number} left out: {reasons.map((reason) => skipReasons[reason] ?? reason).join(', ')}
        </span>
      )}
    </>
  );
}

/** How many rows wait while somebody reads; a click shows them. */
function WaitingRows() {
  const { length } = tail.state.value.waiting;
  if (length === 0) return null;
  return (
    <button type="button" class="button primary waiting-rows" onClick={() => tail.show()}>
      {countText(length)}
      {length >= maxTailRows ? '+' : ''} new {length === 1 ? 'row' : 'rows'}
    </button>
  );
}

/** Why Live is interrupted, or has ended. */
function TailEnd() {
  const { phase } = tail.state.value;
  if (phase.kind !== 'waiting' && phase.kind !== 'ended') return null;
  return (
    <div class="pad">
      <ErrorBanner error={phase.error} retryAtMs={phase.kind === 'waiting' ? phase.retryAtMs : undefined}>
        <span class="spacer" />
        <button type="button" class="button small" onClick={() => tail.resume()}>
          Connect again
        </button>
      </ErrorBanner>
    </div>
  );
}

function EmptyRows({ isTailing }: { readonly isTailing: boolean }) {
  if (isTailing) {
    return (
      <ViewState icon="tail" title="Waiting for rows">
        <p>Rows that arrive from now on and match the search show up here.</p>
      </ViewState>
    );
  }
  if (rows.state.value.result === undefined) return null;
  return (
    <ViewState title="No rows in this time">
      <p>
        {search.value === ''
          ? 'Choose a longer time, or another dataset.'
          : 'Nothing matches the search in this time. Choose a longer time, or take a condition away.'}
      </p>
      <div class="buttons">
        {range.value.from === '7d' ? null : (
          <button type="button" class="button" onClick={() => setRange({ from: '7d', to: 'now' })}>
            Last 7 days
          </button>
        )}
        {search.value === '' ? null : (
          <button type="button" class="button" onClick={() => setParameters({ q: undefined })}>
            Clear the search
          </button>
        )}
      </div>
    </ViewState>
  );
}

/** The address with the times that are shown now, so that others see the same. */
function shareLink(): string {
  const bounds = asked.peek()?.question.bounds ?? boundsOf(range.peek(), Date.now());
  const link = new URL(location.href);
  const next = new URLSearchParams(link.hash.slice(1));
  if (bounds !== undefined) {
    next.set('from', new Date(bounds.fromMs).toISOString());
    next.set('to', new Date(bounds.toMs).toISOString());
  }
  if (timeZone.peek() !== 'local') next.set('tz', timeZone.peek());
  link.hash = next.toString();
  return link.href;
}

const formatNames: Readonly<Record<DownloadFormat, string>> = {
  csv: 'CSV',
  ndjson: 'NDJSON',
  parquet: 'Parquet',
};

/** The whole result, not what is shown. */
export function Downloads({ sql, name }: { readonly sql: string; readonly name: string }) {
  const [state, setState] = useState<'idle' | 'busy' | Error>('idle');
  const start = (format: DownloadFormat) => {
    setState('busy');
    download(sql, format, name).then(
      () => setState('idle'),
      (error: unknown) => setState(error instanceof Error ? error : new Error(String(error))),
    );
  };
  return (
    <>
      <button
        type="button"
        class="button quiet small"
        popovertarget="download-menu"
        disabled={state === 'busy'}
      >
        <Icon name="download" />
        {state === 'busy' ? 'Downloading…' : 'Download'}
      </button>
      <div id="download-menu" popover="auto" class="download-menu">
        <p class="hint">All rows of the query, as a file</p>
        {downloadFormats.map((format) => (
          <button
            key={format}
            type="button"
            class="button small"
            onClick={(event) => {
              event.currentTarget.closest<HTMLElement>('[popover]')?.hidePopover();
              start(format);
            }}
          >
            {formatNames[format]}
          </button>
        ))}
      </div>
      {state instanceof Error ? (
        <span class="wrong" role="alert">
          {state.message}
        </span>
      ) : null}
    </>
  );
}
