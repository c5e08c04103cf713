import { AppError, errorText } from '../../errors.ts';
import type { Query } from '../ast.ts';
import { catalogUse } from '../catalog-query/catalog-use.ts';
import { relationPaths } from '../relation-names.ts';
import { located } from '../sql-error.ts';
import { parseQuery } from '../syntax/parse.ts';
import { translate } from '../translate-query.ts';
import { refusalOf } from './refusal.ts';
import { type AskCatalog, type ColumnMemory, NamesMissing, TaskCatalog } from './task-catalog.ts';
import type { TranslationOutcome, TranslationTask } from './translation-messages.ts';

export interface TaskParts {
  /** Of this program, for `version()`. */
  readonly version: string;
  readonly memory: ColumnMemory;
  readonly ask: AskCatalog;
}

/** Parses, resolves and prints one query; errors become data, since threads exchange nothing else. */
export async function runTask(task: TranslationTask, parts: TaskParts): Promise<TranslationOutcome> {
  let relations: readonly string[] = [];
  try {
    const tree = await parsed(task.text);
    const { version, ask, memory } = parts;
    const { isCatalogQuery, readsColumns } = catalogUse(tree);
    const catalog = new TaskCatalog(task.tenant, version, relationPaths(tree), ask, memory, readsColumns);
    if (!isCatalogQuery) {
      relations = catalog.relations;
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

async function parsed(text: string): Promise<Query> {
  try {
    return await parseQuery(text);
  } catch (thrown) {
    throw thrown instanceof AppError ? thrown : new ParserFailed(errorText(thrown), { cause: thrown });
  }
}

async function translated(tree: Query, catalog: TaskCatalog, task: TranslationTask) {
  const { text, range, parameters, session } = task;
  try {
    try {
      return translate(tree, catalog, range, undefined, parameters, session);
    } catch (thrown) {
      if (!(thrown instanceof NamesMissing)) throw thrown;
      await catalog.loadNames();
      return translate(tree, catalog, range, undefined, parameters, session);
    }
  } catch (thrown) {
    throw located(thrown, text);
  }
}

/** What V8 throws when the stack, a string or an array becomes too large. */
const isExhaustion = (thrown: unknown): boolean => thrown instanceof RangeError;
