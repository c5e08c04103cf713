import { AppError } from '../errors.ts';
import { quotedName } from '../lib/credential-shape.ts';
import { limits } from '../limits/limits.ts';
import { postgresType } from '../sql/postgres-types.ts';
import { narrowedSettings, semanticSettings } from '../sql/print/settings.ts';
import type { Translation } from '../sql/translate.ts';
import { typeLabel } from '../sql/types.ts';
import {
  Execution,
  type ExecutionParts,
  type QueryBounds,
  type Settings,
  type Statement,
} from './execution.ts';
import type {
  CountsBin,
  CountsRequest,
  Description,
  Explanation,
  Query,
  QueryQuestion,
  QueryRequest,
  QueryResult,
} from './request.ts';
import { type ResultFormat, storeOutputs } from './result-format.ts';
import { countRows } from './time-histogram.ts';
import { parseTimeRange } from './time-range.ts';
import { type TranslationQuestion, Translator, type TranslatorParts } from './translator.ts';

export interface QueryServiceParts extends TranslatorParts, ExecutionParts {}

/** SQL in, rows out: authorize, translate, execute. */
export class QueryService implements Query {
  readonly #parts: QueryServiceParts;
  readonly #translator: Translator;
  readonly #settings: { readonly full: FormSettings; readonly narrowed: FormSettings };

  constructor(parts: QueryServiceParts) {
    this.#parts = parts;
    this.#translator = new Translator(parts);
    const common = { ...semanticSettings, ...boundSettings(parts.bounds) };
    this.#settings = {
      full: formSettings(common),
      narrowed: formSettings({ ...common, ...narrowedSettings }),
    };
  }

  async run(request: QueryRequest): Promise<QueryResult> {
    const translation = await this.#translate(request);
    return this.#execute(translation, request, request.format);
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
    const { columns, parameters } = await this.#translator.describe(this.#toTranslate(question));
    return { columns, parameters: parameters.map(({ type }) => postgresType(type)) };
  }

  async counts(request: CountsRequest): Promise<readonly CountsBin[]> {
    return await countRows(request, this.#parts.clock.nowMicros(), {
      translate: (question) => this.#translator.translate(question),
      kindOf: (dataset) => this.#parts.catalog.get(request.tenant, dataset)?.kind,
      execute: (translation) => this.#execute(translation, request, 'ndjson'),
    });
  }

  async #translate(question: QueryQuestion): Promise<Translation> {
    const translation = await this.#translator.translate(this.#toTranslate(question));
    checkStreamName(question.streamName, translation);
    return translation;
  }

  #toTranslate(question: QueryQuestion): TranslationQuestion {
    const { principal, tenant, sql, parameters, parameterTypes, signal } = question;
    const nowMicros = this.#parts.clock.nowMicros();
    const { startMicros, endMicros } = parseTimeRange(question.startTime, question.endTime, nowMicros);
    const times = { startMicros, endMicros, nowMicros };
    return { principal, tenant, sql, times, parameters, parameterTypes, signal };
  }

  #execute(
    statement: Statement & Pick<Translation, 'narrowed'>,
    { tenant, principal, signal }: Pick<QueryRequest, 'tenant' | 'principal' | 'signal'>,
    form: ResultFormat,
  ): QueryResult {
    const { format } = storeOutputs[form];
    const settings = this.#settings[statement.narrowed ? 'narrowed' : 'full'][form];
    const user = `${principal.kind} ${principal.id ?? principal.name}`;
    return new Execution(this.#parts, statement, { party: tenant, user, signal, form, format, settings });
  }
}

type FormSettings = Readonly<Record<ResultFormat, Settings>>;

/** Of queries in each form; the same objects for all of them, which the store renders once. */
function formSettings(common: Settings): FormSettings {
  const of = (form: ResultFormat): Settings => ({ ...common, ...storeOutputs[form].settings });
  return {
    json: of('json'),
    ndjson: of('ndjson'),
    csv: of('csv'),
    arrow: of('arrow'),
    parquet: of('parquet'),
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

function checkStreamName(streamName: string | undefined, { datasets }: Translation): void {
  if (streamName === undefined || datasets.includes(streamName)) return;
  const read = datasets.length === 0 ? 'none' : datasets.join(', ');
  throw new AppError(
    'bad_request',
    `streamName is ${quotedName(streamName)}, which the query does not read; it reads ${read}`,
  );
}
