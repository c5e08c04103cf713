import { expect, test } from 'vitest';
import { noParameters } from '../../../src/sql/parameters.ts';
import { ColumnMemory } from '../../../src/sql/translation/task-catalog.ts';
import { runTask } from '../../../src/sql/translation/translation-task.ts';

// In a separate process: a query that overflows the parser's stack may leave the parser unusable.
test('what overflows the stack is no error of the query, and no bug', async () => {
  const task = {
    text: `select ${'1+'.repeat(100_000)}1`,
    tenant: 'default',
    range: { start: false, end: false },
    parameters: noParameters,
  };
  const parts = {
    version: '1.2.3',
    memory: new ColumnMemory(),
    ask: () => Promise.reject(new Error('nothing is asked')),
  };
  expect(await runTask(task, parts)).toMatchObject({ kind: 'broken' });
});
