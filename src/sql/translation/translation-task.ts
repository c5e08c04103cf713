import { AppError, errorText } from '../../errors.ts';
import { parseArrivalQuery } from '../arrival-query.ts';
import type { Query } from '../ast.ts';
import { isCatalogQuery } from '../catalog-query/is-catalog-query.ts';
import { relationPaths } from '../relation-names.ts';
import { located } from '../sql-error.ts';
import { inCondition, parseQuery } from '../syntax/parse.ts';
import { findSystemRelation, isCatalogPath } from '../system-catalog/system-relations.ts';
import { translate } from '../translate-query.ts';
import { refusalOf } from './refusal.ts';
import {
  type AskCatalog,
  CatalogMissing,
  type ColumnMemory,
  type ReadableMemory,
  TaskCatalog,
} from './task-catalog.ts';
import type { TranslationOutcome, TranslationTask } from './translation-messages.ts';

export interface TaskParts {
  /** Of this program, for `version()`. */
  readonly version: string;
  readonly columns: ColumnMemory;
  readonly readables: ReadableMemory;
  readonly ask: AskCatalog;
}

/** Parses, resolves and prints one query; errors become data, since threads exchange nothing else. */
export async function runTask(task: TranslationTask, parts: TaskParts): Promise<TranslationOutcome> {
  let relations: readonly string[] = [];
  try {
    const { arrivals } = task;
    const parse = () =>
      arrivals === undefined ? parseQuery(task.text) : parseArrivalQuery(arrivals, task.text);
    const tree = await parsed(parse);
    const paths = relationPaths(tree);
    const { tenant, readable } = task;
    const catalog = new TaskCatalog(paths, { ...parts, tenant, readable });
    if (!isCatalogQuery(tree)) {
      // What the catalog does not have is not on its way, either.
      if (paths.every(mayExist)) relations = catalog.relations;
      await catalog.loadRelations();
    }
    if (catalog.unready !== undefined) return { kind: 'unready', dataset: catalog.unready, relations };
    return { kind: 'translated', translation: await translated(tree, catalog, task) };
  } catch (thrown) {
    if (thrown instanceof AppError) return { kind: 'refused', error: refusalOf(thrown), relations };
    const reason = errorText(thrown);
    if (thrown instanceof ParserFailed || isExhaustion(thrown)) return { kind: 'broken', reason };
    return { kind: 'failed', reason: thrown instanceof Error ? (thrown.stack ?? reason) : reason };
  }
}

class ParserFailed extends Error {}

async function parsed(parse: () => Promise<Query>): Promise<Query> {
  try {
    return await parse();
  } catch (thrown) {
    throw thrown instanceof AppError ? thrown : new ParserFailed(errorText(thrown), { cause: thrown });
  }
}

async function translated(tree: Query, catalog: TaskCatalog, task: TranslationTask) {
  const { text, arrivals, range, parameters, session, needsSql, times } = task;
  try {
    // Each round knows more: the names, the columns of a few datasets, then those of all.
    for (;;) {
      try {
        return translate(tree, catalog, range, undefined, parameters, session, needsSql, times, arrivals);
      } catch (thrown) {
        if (!(thrown instanceof CatalogMissing)) throw thrown;
        await catalog.load(thrown);
      }
    }
  } catch (thrown) {
    throw located(arrivals === undefined ? thrown : inCondition(thrown), text);
  }
}

const mayExist = (path: readonly string[]): boolean =>
  !isCatalogPath(path) || findSystemRelation(path) !== undefined;

/** What V8 throws when the stack, a string or an array becomes too large. */
const isExhaustion = (thrown: unknown): boolean => thrown instanceof RangeError;
