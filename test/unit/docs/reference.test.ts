import { expect, test } from 'vitest';
import { configurationReference } from '../../../bench/reference/configuration-reference.ts';
import { errorsReference } from '../../../bench/reference/errors-reference.ts';
import { refusals, sqlReference } from '../../../bench/reference/sql-reference.ts';
import { AppError, errorDefinitions } from '../../../src/errors.ts';
import { parseQuery } from '../../../src/sql/syntax/parse.ts';
import { translate } from '../../../src/sql/translate-query.ts';
import { readPage } from '../../support/docs/markdown-pages.ts';
import { catalogOfDatasets } from '../../support/sql/small-catalogs.ts';

test.each([
  ['configuration', configurationReference],
  ['errors', errorsReference],
  ['sql', sqlReference],
])('docs/reference/%s.md is what the code says (npm run docs)', (name, reference) => {
  expect(readPage(`docs/reference/${name}.md`)).toBe(reference());
});

test.each(Object.entries(errorDefinitions))(
  '%s has a title and a description in sentences',
  (_, definition) => {
    const { title, description } = definition;
    expect(title).toMatch(/^[A-Z].*[^.]$/);
    expect(description).toMatch(/^[A-Z].* .*\.$/);
  },
);

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
const catalog = { ...catalogOfDatasets([app]), dataset: () => app };
const range = { start: false, end: false };

test.each(refusals)('$construct: refused', async ({ example }) => {
  const refusal = await parseQuery(example)
    .then((query) => translate(query, catalog, range))
    .catch((thrown: unknown) => thrown);
  expect(refusal).toBeInstanceOf(AppError);
  expect(refusal).toMatchObject({ code: expect.stringMatching(/^sql_(unsupported|unknown_function|type)$/) });
});
