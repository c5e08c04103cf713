import { useEffect, useState } from 'preact/hooks';
import { isAbort, ServiceError } from '../../api/api-client.ts';
import { createIngestKey, listDatasets } from '../../api/identity-requests.ts';
import { runQuery } from '../../api/run-query.ts';
import { identifier, literal } from '../../query/sql-text.ts';
import { followLink, hrefOf } from '../../state/address.ts';
import { may, session } from '../../state/signed-in.ts';
import { CopyButton } from '../../ui/copy-button.tsx';
import { Icon } from '../../ui/icon.tsx';
import { countText } from '../../ui/time-text.ts';
import { ErrorBanner } from '../../ui/view-state.tsx';
import { type Snippet, snippets } from './snippets.ts';

/** What names of datasets may hold (the service checks it again). */
const datasetRule = /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}$/;
const placeholderKey = 'YOUR-API-KEY';

/** The way to the first rows: a key, a command, and the rows. */
export function StartPage() {
  const [chosen, setChosen] = useState<Snippet | undefined>(snippets[0]);
  const [typedName, setTypedName] = useState<string | undefined>();
  const [made, setMade] = useState<{ readonly dataset: string; readonly key: string } | undefined>();
  const [error, setError] = useState<ServiceError | undefined>();
  const [isBusy, setIsBusy] = useState(false);
  const dataset = typedName ?? made?.dataset ?? chosen?.dataset ?? 'app';
  const isValid = datasetRule.test(dataset);
  const key = made?.dataset === dataset ? made.key : undefined;
  const make = () => {
    if (!isValid || isBusy) return;
    setIsBusy(true);
    setError(undefined);
    createIngestKey(dataset)
      .then(
        (value) => setMade({ dataset, key: value }),
        (thrown: unknown) =>
          setError(thrown instanceof ServiceError ? thrown : new ServiceError(0, { detail: String(thrown) })),
      )
      .finally(() => setIsBusy(false));
  };
  const origin = new URL('.', location.href).href.replace(/\/$/, '');
  const text = chosen?.text({ origin, dataset, key: key ?? placeholderKey }) ?? '';
  return (
    <div class="start">
      <header>
        <h1>Send data</h1>
        <p class="muted">
          Millrace takes JSON, OTLP and Prometheus remote write at this address. A dataset comes into being
          with its first row.
        </p>
      </header>
      <ol class="steps">
        <li class="panel step">
          <h2>
            <span class="step-number">1</span> A dataset and a key for it
          </h2>
          {may('identity.manage') ? (
            <form
              class="key-form"
              onSubmit={(event) => {
                event.preventDefault();
                make();
              }}
            >
              <label class="labelled">
                Dataset
                <input
                  class="field mono"
                  value={dataset}
                  spellcheck={false}
                  autocapitalize="none"
                  aria-invalid={!isValid}
                  onInput={(event) => setTypedName(event.currentTarget.value.trim())}
                />
              </label>
              <button
                type="submit"
                class={`button ${key === undefined ? 'primary' : ''}`}
                disabled={isBusy || !isValid}
              >
                {isBusy ? 'Making a key…' : key === undefined ? 'Make a key' : 'Make another key'}
              </button>
            </form>
          ) : (
            <p class="banner notice">
              <Icon name="lock" />
              <span>
                {session.value?.name} may not make keys. Ask an administrator for an API key with the
                privilege <code>ingestor</code> on a dataset, and put it in the place of{' '}
                <code>{placeholderKey}</code>.
              </span>
            </p>
          )}
          {isValid ? null : (
            <p class="wrong" role="alert">
              A name has letters, digits, <code>_</code>, <code>.</code> and <code>-</code>, at most 100.
            </p>
          )}
          {error === undefined ? null : <ErrorBanner error={error} />}
          {key === undefined ? (
            <p class="hint">
              This makes the role <code>ingest-{dataset}</code>, which may write this dataset and nothing
              else, and an API key with it.
            </p>
          ) : (
            <div class="banner good key" role="status">
              <Icon name="check" />
              <span>
                <code data-testid="new-key">{key}</code>
                <br />
                It is in the text below, and is not shown again on this page.
              </span>
              <CopyButton text={() => key} label="Copy key" />
            </div>
          )}
        </li>
        <li class="panel step">
          <h2>
            <span class="step-number">2</span> Send something
          </h2>
          <div class="tabs" role="tablist" aria-label="Send with">
            {snippets.map((each) => (
              <button
                key={each.id}
                type="button"
                role="tab"
                id={`tab-${each.id}`}
                class="button quiet small"
                aria-selected={chosen?.id === each.id}
                aria-controls="snippet"
                tabIndex={chosen?.id === each.id ? 0 : -1}
                onClick={() => setChosen(each)}
                onKeyDown={(event) => moveTab(event, setChosen)}
              >
                {each.label}
              </button>
            ))}
          </div>
          <div id="snippet" role="tabpanel" aria-labelledby={`tab-${chosen?.id ?? ''}`}>
            <div class="snippet-head">
              <p class="hint">{chosen?.hint}</p>
              <CopyButton text={() => text} label="Copy" />
            </div>
            {/* A part that scrolls must be reachable by keys. */}
            <section class="snippet" aria-label="Text to paste" tabIndex={0}>
              <pre data-testid="snippet">{text}</pre>
            </section>
          </div>
        </li>
        <li class="panel step">
          <h2>
            <span class="step-number">3</span> See the rows
          </h2>
          <Arrival key={dataset} dataset={dataset} />
        </li>
      </ol>
    </div>
  );
}

/** Arrow keys move between tabs, as people expect of a tab list. */
function moveTab(event: KeyboardEvent, choose: (snippet: Snippet | undefined) => void): void {
  const step = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0;
  if (step === 0) return;
  const tabs = [...document.querySelectorAll<HTMLElement>('.tabs [role="tab"]')];
  const from = tabs.indexOf(event.currentTarget as HTMLElement);
  const to = (from + step + tabs.length) % tabs.length;
  choose(snippets[to]);
  tabs[to]?.focus();
  event.preventDefault();
}

interface Arrived {
  readonly count: number | undefined;
  readonly refusals: readonly string[];
  readonly problem: string | undefined;
}

const pollMs = 1000;

/** Asks once a second whether the dataset is there, until it is. */
function Arrival({ dataset }: { readonly dataset: string }) {
  const [state, setState] = useState<Arrived>({ count: undefined, refusals: [], problem: undefined });
  useEffect(() => {
    const abort = new AbortController();
    void watch(dataset, abort.signal, setState);
    return () => abort.abort();
  }, [dataset]);
  if (!may('dataset.list')) {
    return <p class="hint">{session.value?.name} may not read datasets, so this page cannot see the rows.</p>;
  }
  if (state.count !== undefined) {
    return (
      <div class="banner good" role="status">
        <Icon name="check" />
        <span>
          <b>{dataset}</b> has {countText(state.count)} {state.count === 1 ? 'row' : 'rows'}.
        </span>
        <a
          class="button primary"
          href={hrefOf('explore', { dataset })}
          onClick={(event) => followLink(event, 'explore', { dataset })}
        >
          Explore them
        </a>
      </div>
    );
  }
  return (
    <>
      <p class="waiting" role="status">
        <span class="pulse" aria-hidden="true" />
        <span>
          Waiting for data in <b>{dataset}</b>…
        </span>
      </p>
      {state.problem === undefined ? null : <p class="banner danger">{state.problem}</p>}
      {state.refusals.length === 0 ? null : (
        <div class="banner notice">
          <Icon name="warning" />
          <div>
            Refused in the last minute:
            <ul>
              {state.refusals.map((each) => (
                <li key={each}>{each}</li>
              ))}
            </ul>
          </div>
        </div>
      )}
    </>
  );
}

async function watch(dataset: string, signal: AbortSignal, show: (state: Arrived) => void): Promise<void> {
  while (!signal.aborted) {
    if (document.visibilityState === 'visible') {
      const state = await look(dataset, signal);
      if (signal.aborted) return;
      if (state !== undefined) show(state);
      if (state?.count !== undefined) return;
    }
    await new Promise((resolve) => setTimeout(resolve, pollMs));
  }
}

async function look(dataset: string, signal: AbortSignal): Promise<Arrived | undefined> {
  const nothing: Arrived = { count: undefined, refusals: [], problem: undefined };
  try {
    const names = await listDatasets(signal);
    if (names.includes(dataset)) {
      // Metrics have no rows under their own name alone; the dataset being there is what counts.
      const { rows } = await runQuery(`SELECT count(*) FROM ${identifier(dataset)}`, {
        signal,
        latest: true,
      });
      const count = Number(rows[0]?.[0] ?? 0);
      if (count > 0) return { ...nothing, count };
    }
    return names.includes('millrace_audit') ? { ...nothing, refusals: await refusals(signal) } : nothing;
  } catch (error) {
    if (isAbort(error)) return undefined;
    return { ...nothing, problem: error instanceof Error ? error.message : String(error) };
  }
}

/** What the audit trail says was refused in the last minute, with the reason. */
async function refusals(signal: AbortSignal): Promise<readonly string[]> {
  const since = new Date(Date.now() - 60_000).toISOString();
  const sql = `SELECT DISTINCT code, reason FROM millrace_audit WHERE audit = 'denied' AND p_timestamp >= ${literal(since)} LIMIT 5`;
  const { rows } = await runQuery(sql, { signal });
  return rows.map(([code, reason]) => `${String(reason)} (${String(code)})`);
}
