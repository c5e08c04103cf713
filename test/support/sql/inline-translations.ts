import type { AnsweredReply, TranslationPool } from '../../../src/query/translation-pool.ts';
import { type AskCatalog, ColumnMemory, ReadableMemory } from '../../../src/sql/translation/task-catalog.ts';
import type { CatalogAnswer, DatasetAnswer } from '../../../src/sql/translation/translation-messages.ts';
import { runTask } from '../../../src/sql/translation/translation-task.ts';

/**
 * Translates in this thread instead of a worker, for tests of the translation; messages are
 * cloned as between threads.
 */
export class InlineTranslations implements Pick<TranslationPool, 'run'> {
  readonly #columns = new ColumnMemory();
  readonly #readables = new ReadableMemory();
  /** The number of tasks so far. */
  count = 0;

  async run({ task, answerCatalog }: Parameters<TranslationPool['run']>[0]): Promise<AnsweredReply> {
    this.count += 1;
    const ask: AskCatalog = async (question) => {
      const datasets: DatasetAnswer[] = [];
      const names: CatalogAnswer['names'][number][] = [];
      const sizes: CatalogAnswer['sizes'][number][] = [];
      let error: CatalogAnswer['error'];
      await answerCatalog(structuredClone(question), (part) => {
        const cloned = structuredClone(part);
        datasets.push(...cloned.datasets);
        names.push(...cloned.names);
        sizes.push(...cloned.sizes);
        error = cloned.error;
        return true;
      });
      return { datasets, names, sizes, error };
    };
    const outcome = await runTask(structuredClone(task), {
      version: '1.2.3',
      columns: this.#columns,
      readables: this.#readables,
      ask,
    });
    if (outcome.kind === 'broken' || outcome.kind === 'failed') throw new Error(outcome.reason);
    return { ...outcome, externalBytes: 0 };
  }
}
