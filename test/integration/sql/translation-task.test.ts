import { expect, test } from 'vitest';
import { noParameters } from '../../../src/sql/parameters.ts';
import { ColumnMemory, ReadableMemory } from '../../../src/sql/translation/task-catalog.ts';
import { runTask } from '../../../src/sql/translation/translation-task.ts';

// In a separate process: a query that overflows the parser's stack may leave the parser unusable.
test('what overflows the stack is no error of the query, and no bug', async () => {
  const task = {
    text: `select ${'1+'.repeat(100_000)}1`,
    tenant: 'default',
    readable: 1,
    range: { start: false, end: false },
    parameters: noParameters,
  };
  const parts = {
    version: '1.2.3',
    columns: new ColumnMemory(),
    readables: new ReadableMemory(),
    ask: () => Promise.reject(new Error('nothing is asked')),
  };
  expect(await runTask(task, parts)).toMatchObject({ kind: 'broken' });
});
