import { AppError } from '../errors.ts';
import type { CancelSignal } from '../lib/cancellation.ts';
import { quotedName } from '../lib/credential-shape.ts';
import { limits } from '../limits/limits.ts';
import type { Principal } from '../model/identity.ts';
import type { KnownRows } from '../sql/known-rows.ts';
import { postgresType } from '../sql/postgres-types.ts';
import { narrowedSettings, semanticSettings } from '../sql/print/semantic-settings.ts';
import { explainedRows, type Translation } from '../sql/translate-query.ts';
import { typeLabel } from '../sql/types.ts';
import {
  Execution,
  type ExecutionOptions,
  type ExecutionParts,
  type ExportBounds,
  type QueryBounds,
  type Settings,
  type Statement,
} from './execution.ts';
import { Exports } from './exports.ts';
import { KnownResult } from './known-result.ts';
import { inForm } from './output-columns.ts';
import type {
  ArrivalQuery,
  ArrivalRequest,
  CountsBin,
  CountsRequest,
  Description,
  Explanation,
  Query,
  QueryQuestion,
  QueryRequest,
  QueryResult,
} from './request.ts';
import { type OutputForm, storeOutputs } from './result-format.ts';
import { countRows } from './time-histogram.ts';
import { parseTimeRange } from './time-range.ts';
import { type TranslationQuestion, Translator, type TranslatorParts } from './translator.ts';

export interface QueryServiceParts extends TranslatorParts, ExecutionParts {
  readonly exportBounds: ExportBounds;
  /** Whether the principal may export from a dataset, or from any dataset if none is given. */
  mayExport(principal: Principal, dataset?: string): boolean;
  /**
   * Waits until the store has all rows of these datasets that are in the log now.
   * @returns false if that took longer than `withinMs`
   */
  waitForLatest(
    tenant: string,
    datasets: readonly string[],
    withinMs: number,
    signal: CancelSignal,
  ): Promise<boolean>;
}

/** Runs queries: authorizes, translates and executes them. */
export class QueryService implements Query, ArrivalQuery {
  readonly #parts: QueryServiceParts;
  readonly #translator: Translator;
  readonly #exports: Exports;
  readonly #settings: ScopedSettings;
  readonly #exportSettings: ScopedSettings;
  readonly #arrivalSettings: ScopedSettings;

  constructor(parts: QueryServiceParts) {
    this.#parts = parts;
    this.#exports = new Exports(parts.exportBounds.maxPerTenant);
    this.#translator = new Translator(parts);
    this.#settings = scopedSettings(boundSettings(parts.bounds));
    this.#arrivalSettings = scopedSettings(
      boundSettings({ ...parts.bounds, timeoutMs: limits.tailQueryTimeoutMs, maxThreads: 1 }),
    );
    this.#exportSettings = scopedSettings(exportSettings(parts.bounds, parts.exportBounds));
  }

  async run(request: QueryRequest): Promise<QueryResult> {
    const isExport = request.isExport === true;
    if (isExport) this.#requireExport(request, []);
    const needsSql = isExport || request.format !== 'rows';
    const translation = await this.#translate(request, needsSql);
    if (isExport) this.#requireExport(request, translation.datasets);
    const { statement: translated, waitedMs } =
      request.latest === true
        ? await this.#latest(request, translation)
        : { statement: translation, waitedMs: 0 };
    const statement = translated.isExplained === true ? explainedRows(translated) : translated;
    return isExport
      ? this.#export(statement, request)
      : this.#execute(statement, request, request.format, waitedMs);
  }

  async arrivals(request: ArrivalRequest): Promise<QueryResult> {
    const { principal, tenant, dataset, condition, inserts, form, maxRows, signal } = request;
    const translation = await this.#translator.translate({
      principal,
      tenant,
      sql: condition,
      times: {
        startMicros: undefined,
        endMicros: undefined,
        nowMicros: this.#parts.clock.nowMicros(),
        inserts,
      },
      arrivals: { dataset, form, maxRows },
      signal,
    });
    return this.#begin(translation, request, 'ndjson', {
      settings: this.#arrivalSettings[translation.narrowed ? 'narrowed' : 'full'].ndjson,
      timeoutMs: limits.tailQueryTimeoutMs,
      leavesLargeShare: true,
    });
  }

  async explain(question: QueryQuestion): Promise<Explanation> {
    const { sql, columns, parameters, datasets } = await this.#translate(question);
    return {
      sql,
      fields: columns.map(({ name, type }) => ({ name, type: type.label })),
      ...(parameters.length === 0 ? {} : { parameters: parameters.map(({ type }) => typeLabel(type)) }),
      datasets,
    };
  }

  async describe(question: QueryQuestion): Promise<Description> {
    const { columns, aggregateColumns, datasets, parameters } = await this.#translator.describe(
      this.#toTranslate(question, false),
    );
    return {
      columns,
      aggregateColumns,
      datasets,
      parameters: parameters.map(({ type, postgres }) => postgres ?? postgresType(type)),
    };
  }

  async counts(request: CountsRequest): Promise<readonly CountsBin[]> {
    return await countRows(request, this.#parts.clock.nowMicros(), {
      translate: (question) => this.#translator.translate(question),
      kindOf: (dataset) => this.#parts.catalog.get(request.tenant, dataset)?.kind,
      execute: (translation) => this.#execute(translation, request, 'ndjson'),
    });
  }

  /** @param needsSql whether the statement is needed where the rows are known and few enough */
  async #translate(question: QueryQuestion, needsSql = true): Promise<Translation> {
    const known = await this.#translator.translate(this.#toTranslate(question, needsSql));
    const isEnough = known.isWithoutSql !== true || isWithin(known.knownRows, this.#parts.bounds);
    const translation = isEnough
      ? known
      : await this.#translator.translate(this.#toTranslate(question, true));
    checkStreamName(question.streamName, translation);
    return translation;
  }

  /**
   * For a query with the consistency `latest`: waits for the rows, and translates again.
   * @param datasets that it reads
   * @throws AppError `query_timeout`
   */
  async #latest(
    request: QueryRequest,
    { datasets, isWithoutSql }: Translation,
  ): Promise<{ readonly statement: Translation; readonly waitedMs: number }> {
    const { waitForLatest, bounds, clock } = this.#parts;
    const startedMs = clock.monotonicMs();
    if (!(await waitForLatest(request.tenant, datasets, bounds.timeoutMs, request.signal))) {
      throw new AppError(
        'query_timeout',
        'the rows acknowledged before this query are not in the store yet; without the header Millrace-Consistency, the query reads what is there',
      );
    }
    // The rows may have added columns.
    const statement = await this.#translate(request, isWithoutSql !== true);
    return { statement, waitedMs: clock.monotonicMs() - startedMs };
  }

  #toTranslate(question: QueryQuestion, needsSql: boolean): TranslationQuestion {
    const { principal, tenant, sql, parameters, parameterTypes, timeSettings, session, signal } = question;
    const nowMicros = this.#parts.clock.nowMicros();
    const { startMicros, endMicros } = parseTimeRange(question.startTime, question.endTime, nowMicros);
    const times = { startMicros, endMicros, nowMicros };
    return {
      principal,
      tenant,
      sql,
      times,
      parameters,
      parameterTypes,
      timeSettings,
      session,
      signal,
      needsSql,
    };
  }

  /** @throws AppError `forbidden` */
  #requireExport({ principal }: QueryRequest, datasets: readonly string[]): void {
    if (!this.#parts.mayExport(principal)) throw new AppError('forbidden', needsExporter);
    const refused = datasets.find((name) => !this.#parts.mayExport(principal, name));
    if (refused === undefined) return;
    throw new AppError('forbidden', `${needsExporter} on dataset ${quotedName(refused)}`);
  }

  /** @param waitedMs time that the query has already waited; it is taken from its time limit */
  #execute(statement: FormStatement, request: Asked, form: OutputForm, waitedMs = 0): QueryResult {
    if (form === 'rows' && isWithin(statement.knownRows, this.#parts.bounds))
      return new KnownResult(statement, statement.knownRows);
    const settings = this.#settings[statement.narrowed ? 'narrowed' : 'full'][form];
    const timeoutMs = this.#parts.bounds.timeoutMs - waitedMs;
    return this.#begin(statement, request, form, { settings, timeoutMs });
  }

  #export(statement: FormStatement, request: QueryRequest): QueryResult {
    const { tenant, principal, format: form } = request;
    const { exportBounds, log, clock } = this.#parts;
    const begin = () => {
      const release = this.#exports.begin(tenant, userOf(principal));
      const startedMs = clock.monotonicMs();
      return (sentBytes: number, isComplete: boolean) => {
        release();
        const ms = Math.round(clock.monotonicMs() - startedMs);
        log.info({ query: result.id, tenant, sentBytes, isComplete, ms }, 'an export ended');
      };
    };
    const result = this.#begin(statement, request, form, {
      settings: this.#exportSettings[statement.narrowed ? 'narrowed' : 'full'][form],
      timeoutMs: exportBounds.timeoutMs,
      leavesLargeShare: true,
      begin,
    });
    return result;
  }

  #begin(
    statement: FormStatement,
    { tenant, principal, signal }: Asked,
    form: OutputForm,
    options: Pick<ExecutionOptions, 'settings' | 'timeoutMs' | 'leavesLargeShare' | 'begin'>,
  ): QueryResult {
    const sql = inForm(statement.sql, statement.columns, form);
    // Listed one by one: copies of objects with so many members take V8 microseconds.
    return new Execution(this.#parts, sql === statement.sql ? statement : { ...statement, sql }, {
      party: tenant,
      user: userOf(principal),
      signal,
      form,
      format: storeOutputs[form].format,
      settings: options.settings,
      timeoutMs: options.timeoutMs,
      leavesLargeShare: options.leavesLargeShare ?? false,
      begin: options.begin,
    });
  }
}

/** Rows that the store would refuse are for it to refuse. */
const isWithin = (
  rows: KnownRows | undefined,
  { maxResultRows, maxResultBytes }: QueryBounds,
): rows is KnownRows =>
  rows !== undefined && rows.count <= maxResultRows && 3 * rows.text.length <= maxResultBytes;

type FormStatement = Statement & Pick<Translation, 'narrowed' | 'knownRows'>;
type Asked = Pick<QueryRequest, 'tenant' | 'principal' | 'signal'>;

const needsExporter = 'an export needs the privilege exporter or admin';
const userOf = ({ kind, id, name }: Principal): string => `${kind} ${id ?? name}`;

interface ScopedSettings {
  readonly full: FormSettings;
  readonly narrowed: FormSettings;
}

function scopedSettings(bounds: Settings): ScopedSettings {
  const common = { ...semanticSettings, ...bounds };
  return { full: formSettings(common), narrowed: formSettings({ ...common, ...narrowedSettings }) };
}

type FormSettings = Readonly<Record<OutputForm, Settings>>;

/** The settings for each output format. All queries share the objects, so the store renders each once. */
function formSettings(common: Settings): FormSettings {
  const of = (form: OutputForm): Settings => ({ ...common, ...storeOutputs[form].settings });
  return {
    json: of('json'),
    ndjson: of('ndjson'),
    csv: of('csv'),
    arrow: of('arrow'),
    parquet: of('parquet'),
    rows: of('rows'),
    arrays: of('arrays'),
  };
}

const boundSettings = (bounds: QueryBounds): Settings => ({
  max_execution_time: bounds.timeoutMs / 1000,
  max_memory_usage: bounds.maxMemoryBytes,
  max_threads: bounds.maxThreads,
  max_block_size: limits.queryBlockRows,
  max_result_rows: bounds.maxResultRows,
  max_result_bytes: bounds.maxResultBytes,
  result_overflow_mode: 'throw',
});

/** The result has no limit. Large sorts and groupings go to disk. */
const exportSettings = (bounds: QueryBounds, { timeoutMs }: ExportBounds): Settings => ({
  ...boundSettings({ ...bounds, timeoutMs, maxResultRows: 0, maxResultBytes: 0 }),
  max_threads: Math.min(bounds.maxThreads, limits.exportMaxThreads),
  max_bytes_before_external_sort: limits.exportSpillBytes,
  max_bytes_before_external_group_by: limits.exportSpillBytes,
  max_bytes_ratio_before_external_sort: 0,
  max_bytes_ratio_before_external_group_by: 0,
  // Writing with several threads needs more memory than an export may use.
  output_format_parallel_formatting: 0,
  output_format_parquet_parallel_encoding: 0,
  max_joined_block_size_rows: limits.queryBlockRows,
});

function checkStreamName(streamName: string | undefined, { datasets }: Translation): void {
  if (streamName === undefined || datasets.includes(streamName)) return;
  const read = datasets.length === 0 ? 'none' : datasets.join(', ');
  throw new AppError(
    'bad_request',
    `streamName is ${quotedName(streamName)}, which the query does not read; it reads ${read}`,
  );
}
