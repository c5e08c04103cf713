import { computed, signal } from '@preact/signals';
import { listDatasets } from '../../api/identity-requests.ts';
import { runQuery } from '../../api/run-query.ts';
import { barWidthMs, boundsOf, defaultRange, type TimeRange } from '../../query/chosen-range.ts';
import { type DatasetFields, describeFields } from '../../query/dataset-fields.ts';
import { columnsSql, histogramSql, type Question, rowsSql } from '../../query/explore-sql.ts';
import { SearchError } from '../../query/search-language.ts';
import { searchCondition } from '../../query/search-sql.ts';
import { parameters, setParameters } from '../../state/address.ts';
import { QueryRun } from '../../state/query-run.ts';

/**
 * What Explore shows, from the address: `dataset`, `q` (the search), `from` and `to`, `columns`, `all` (words
 * in every text). A change of the address asks anew; the answers are `rows` and `bars`.
 */
const parameter = (name: string): string => parameters.value.get(name) ?? '';

export const datasetName = computed(() => parameter('dataset'));
export const search = computed(() => parameter('q'));
export const inAllText = computed(() => parameter('all') === '1');
export const range = computed<TimeRange>(() => {
  const [from, to] = [parameter('from'), parameter('to')];
  const chosen = { from: from === '' ? defaultRange.from : from, to: to === '' ? 'now' : to };
  return boundsOf(chosen, Date.now()) === undefined ? defaultRange : chosen;
});
export const shownColumns = computed<readonly string[]>(() =>
  parameter('columns') === '' ? [] : (JSON.parse(safeArray(parameter('columns'))) as string[]),
);

/** A list of names in the address; anything else counts as none. */
function safeArray(text: string): string {
  try {
    const value: unknown = JSON.parse(text);
    return Array.isArray(value) && value.every((each) => typeof each === 'string') ? text : '[]';
  } catch {
    return '[]';
  }
}

export const setRange = (next: TimeRange): void =>
  setParameters({ from: next.from, to: next.to === 'now' ? undefined : next.to });

export function toggleColumn(name: string): void {
  const now = shownColumns.peek();
  const next = now.includes(name) ? now.filter((each) => each !== name) : [...now, name];
  setParameters({ columns: next.length === 0 ? undefined : JSON.stringify(next) });
}

/** The datasets that the person may see; undefined while they are asked for. */
export const datasets = signal<readonly string[] | undefined>(undefined);
export const datasetsError = signal<Error | undefined>(undefined);

export async function loadDatasets(signal_: AbortSignal): Promise<void> {
  try {
    datasets.value = (await listDatasets(signal_)).toSorted((a, b) => a.localeCompare(b));
    datasetsError.value = undefined;
  } catch (error) {
    if (!signal_.aborted) datasetsError.value = error instanceof Error ? error : new Error(String(error));
  }
}

/** The columns of the dataset; undefined while they are asked for, null if it has no column of times. */
export const fields = signal<DatasetFields | null | undefined>(undefined);

export async function loadFields(dataset: string, signal_: AbortSignal): Promise<void> {
  const { rows } = await runQuery(columnsSql(dataset), { signal: signal_ });
  const columns = rows.map(([name, type]) => ({ name: String(name), type: String(type) }));
  if (!signal_.aborted) fields.value = describeFields(dataset, columns) ?? null;
}

export const rows = new QueryRun();
export const bars = new QueryRun();
export const searchError = signal<SearchError | undefined>(undefined);
/** What the last run asked, with the times that it had. */
export const asked = signal<{ readonly question: Question; readonly widthMs: number } | undefined>(undefined);

/** Rows that are fetched first, and more when somebody scrolls to their end; beyond, a download is better. */
export const rowSteps = [500, 5000, 20_000] as const;
export const rowLimit = signal<number>(rowSteps[0]);

/** Asks for rows and bars, by the search and the time of the address. */
export function run(): void {
  const dataset = fields.peek();
  const bounds = boundsOf(range.peek(), Date.now());
  if (dataset === undefined || dataset === null || bounds === undefined) return;
  let condition: string;
  try {
    condition = searchCondition(search.peek(), dataset, inAllText.peek());
    searchError.value = undefined;
  } catch (error) {
    if (!(error instanceof SearchError)) throw error;
    searchError.value = error;
    rows.cancel();
    bars.cancel();
    return;
  }
  const question: Question = { dataset, bounds, condition };
  const widthMs = barWidthMs(bounds);
  asked.value = { question, widthMs };
  rowLimit.value = rowSteps[0];
  void rows.run(rowsSql(question, rowSteps[0]));
  void bars.run(histogramSql(question, widthMs));
}

/** More rows of the same question, if there may be more. */
export function fetchMore(): void {
  const now = asked.peek();
  const { isLoading, result } = rows.state.peek();
  const next = rowSteps.find((step) => step > rowLimit.peek());
  if (now === undefined || isLoading || next === undefined || (result?.rows.length ?? 0) < rowLimit.peek())
    return;
  rowLimit.value = next;
  void rows.run(rowsSql(now.question, next));
}
