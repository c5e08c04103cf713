/** The Piscina entry of the translation threads: PostgreSQL's SQL in, ClickHouse's SQL out. */
import { readlinkSync } from 'node:fs';
import { getHeapStatistics } from 'node:v8';
import type { MessagePort } from 'node:worker_threads';
import { parseQuery } from '../src/sql/syntax/parse.ts';
import { type AskCatalog, ColumnMemory, ReadableMemory } from '../src/sql/translation/task-catalog.ts';
import type {
  CatalogAnswer,
  DatasetAnswer,
  TranslationReply,
  TranslationTask,
  TranslatorReady,
  TranslatorStart,
} from '../src/sql/translation/translation-messages.ts';
import { runTask, type TaskParts } from '../src/sql/translation/translation-task.ts';

let parts: TaskParts | undefined;

/** Runs before any task. It loads the parser, so that no task pays for that. */
export async function start({ port, version }: TranslatorStart<MessagePort>): Promise<TranslatorReady> {
  parts = {
    version,
    columns: new ColumnMemory(),
    readables: new ReadableMemory(),
    ask: askThrough(port),
  };
  await parseQuery('SELECT 1');
  return { threadId: nativeThreadId() };
}

export async function translate(task: TranslationTask): Promise<TranslationReply> {
  if (parts === undefined) throw new Error('BUG: the thread was not started');
  const outcome = await runTask(task, parts);
  return { ...outcome, externalBytes: getHeapStatistics().external_memory };
}

/** There is one request to the catalog at a time, since there is one task at a time. */
function askThrough(port: MessagePort): AskCatalog {
  let take: ((part: CatalogAnswer) => void) | undefined;
  port.on('message', (part: CatalogAnswer) => take?.(part));
  return (question) =>
    new Promise((resolve) => {
      const datasets: DatasetAnswer[] = [];
      const names: CatalogAnswer['names'][number][] = [];
      const sizes: CatalogAnswer['sizes'][number][] = [];
      take = (part) => {
        datasets.push(...part.datasets);
        names.push(...part.names);
        sizes.push(...part.sizes);
        if (part.isLast) resolve({ datasets, names, sizes, error: part.error });
      };
      port.postMessage(question);
    });
}

/** Linux names the current thread `<process>/task/<thread>`. */
function nativeThreadId(): number | undefined {
  if (process.platform !== 'linux') return undefined;
  const id = Number(readlinkSync('/proc/thread-self').split('/').at(-1));
  return Number.isSafeInteger(id) ? id : undefined;
}
