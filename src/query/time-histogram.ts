import { AppError } from '../errors.ts';
import { quotedName } from '../lib/credential-shape.ts';
import { limits } from '../limits/limits.ts';
import { eventTimeColumn } from '../model/column.ts';
import { checkDatasetName, type DatasetKind } from '../model/dataset.ts';
import { postgresType } from '../sql/postgres-types.ts';
import type { Translation } from '../sql/translate-query.ts';
import { int8 } from '../sql/types.ts';
import type { CountsBin, CountsRequest, QueryResult } from './request.ts';
import { parseTimeRange, type TimeRange } from './time-range.ts';
import type { TranslationQuestion } from './translator.ts';

const microsPerMinute = 60_000_000;
/**
 * Widths of bins if the request does not say how many: minutes up to ten hours, hours up to 25 days, days.
 */
const usualWidthsMicros = [1, 60, 24 * 60].map((minutes) => minutes * microsPerMinute);
const maxUsualBins = 600;

type CountStatement = Pick<Translation, 'sql' | 'columns' | 'narrowed' | 'maxRows' | 'datasets'>;

export interface CountParts {
  translate(question: TranslationQuestion): Promise<Translation>;
  kindOf(dataset: string): DatasetKind | undefined;
  execute(statement: CountStatement): QueryResult;
}

/**
 * Counts the rows of a dataset by time. The result has every bin of the range, also empty ones. It counts the
 * rows of the relation with the dataset's name that the principal may read.
 * @throws AppError `bad_request`, `bad_time_range`, `bad_dataset_name`, `dataset_not_found`,
 *   and those of a query
 */
export async function countRows(
  request: CountsRequest,
  nowMicros: number,
  parts: CountParts,
): Promise<readonly CountsBin[]> {
  const { principal, tenant, startTime, endTime, signal } = request;
  const stream = checkDatasetName(request.stream);
  const range = boundedRange(parseTimeRange(startTime, endTime, nowMicros));
  const { startMicros, endMicros } = range;
  const widthMicros = binWidth(endMicros - startMicros, request.numBins);
  // Neither name needs escapes: both consist of letters, digits, underscores and hyphens.
  const column = parts.kindOf(stream) === 'events' ? eventTimeColumn.name : 'timestamp';
  const sql = `SELECT "${column}" AS "at" FROM "${stream}"`;
  const translation = await parts
    .translate({ principal, tenant, sql, times: { ...range, nowMicros }, signal })
    .catch((thrown: unknown) => {
      throw isUnknown(thrown)
        ? new AppError('dataset_not_found', `there is no dataset ${quotedName(stream)}`)
        : thrown;
    });
  const bins = Math.ceil((endMicros - startMicros) / widthMicros);
  const statement = binned(translation, startMicros, widthMicros, bins);
  const counted = await countsByBin(parts.execute(statement));
  return Array.from({ length: bins }, (_, bin) => ({
    startTime: timeText(startMicros + bin * widthMicros),
    endTime: timeText(Math.min(endMicros, startMicros + (bin + 1) * widthMicros)),
    count: counted.get(bin) ?? 0,
  }));
}

/**
 * The SQL was made here, so only the dataset that the request names can be unknown. The position in the SQL
 * would mean nothing to the client.
 */
const isUnknown = (thrown: unknown): boolean =>
  thrown instanceof AppError && thrown.code === 'sql_unknown_relation';

interface BoundedRange {
  readonly startMicros: number;
  readonly endMicros: number;
}

function boundedRange({ startMicros, endMicros }: TimeRange): BoundedRange {
  if (startMicros !== undefined && endMicros !== undefined && startMicros < endMicros) {
    return { startMicros, endMicros };
  }
  throw new AppError('bad_time_range', 'counts need a startTime and a later endTime');
}

function binWidth(lengthMicros: number, bins: number | undefined): number {
  const { maxCountBins } = limits;
  if (bins !== undefined) {
    if (Number.isInteger(bins) && bins >= 1 && bins <= maxCountBins) return Math.ceil(lengthMicros / bins);
    throw new AppError('bad_request', `numBins must be an integer from 1 to ${maxCountBins}`);
  }
  const usual = usualWidthsMicros.find((width) => lengthMicros / width <= maxUsualBins);
  return usual ?? Math.ceil(lengthMicros / maxUsualBins);
}

/** Counts the rows of a translation whose only column is a time. */
function binned(
  { sql, narrowed, datasets }: Translation,
  startMicros: number,
  widthMicros: number,
  maxRows: number,
): CountStatement {
  const micros = "toUnixTimestamp64Micro(toDateTime64(at, 6, 'UTC'))";
  const bin = `intDiv(${micros} - ${startMicros}, ${widthMicros})`;
  return {
    columns: ['bin', 'count'].map((name) => ({ name, label: name, type: postgresType(int8) })),
    sql: `SELECT ${bin} AS bin, count() AS count FROM (${sql}) GROUP BY bin`,
    narrowed,
    datasets,
    maxRows,
  };
}

async function countsByBin(result: QueryResult): Promise<ReadonlyMap<number, number>> {
  const pieces: Uint8Array[] = [];
  for await (const { parts } of result.chunks) pieces.push(...parts);
  const lines = Buffer.concat(pieces).toString('utf8').split('\n');
  const rows = lines
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as { bin: number; count: number });
  return new Map(rows.map(({ bin, count }) => [bin, count]));
}

/** RFC 3339 with microseconds. */
function timeText(micros: number): string {
  const seconds = Math.floor(micros / 1_000_000);
  const fraction = String(micros - seconds * 1_000_000).padStart(6, '0');
  return `${new Date(seconds * 1000).toISOString().slice(0, 19)}.${fraction}Z`;
}
