import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { AppError } from '../../../src/errors.ts';
import { refusals, sqlDocumentation } from '../../../src/sql/documentation.ts';
import { parseQuery } from '../../../src/sql/syntax/parse.ts';
import { translate } from '../../../src/sql/translate.ts';

const app = {
  name: 'app',
  id: 'app',
  kind: 'events',
  fields: new Map([
    ['level', ['str']],
    ['ms', ['num']],
  ] as const),
  rows: 'all',
} as const;
const catalog = { database: 't_default', version: '1.2.3', dataset: () => app, names: () => ['app'] };
const range = { start: false, end: false };

test('the tables of the README are those of the code (npm run docs:sql)', () => {
  const readme = readFileSync(new URL('../../../README.md', import.meta.url), 'utf8');
  expect(readme).toContain(sqlDocumentation());
});

test.each(refusals)('$construct: refused', async ({ example }) => {
  const refusal = await parseQuery(example)
    .then((query) => translate(query, catalog, range))
    .catch((thrown: unknown) => thrown);
  expect(refusal).toBeInstanceOf(AppError);
  expect(refusal).toMatchObject({ code: expect.stringMatching(/^sql_(unsupported|unknown_function|type)$/) });
});
