import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { readableRows } from '../../../src/auth/policy.ts';
import type { DatasetInfo } from '../../../src/catalog/dataset-entry.ts';
import { AppError } from '../../../src/errors.ts';
import { auditDataset, databaseOf, defaultTenant } from '../../../src/model/dataset.ts';
import type { Principal, Privilege } from '../../../src/model/identity.ts';
import { readCases } from '../../sql/cases.ts';
import { anyExpression } from '../../sql/expressions.ts';
import { catalogOf, fixtures } from '../../sql/fixtures.ts';
import { asker, queryService } from '../../sql/querier.ts';

/**
 * Nobody reads a row without a privilege to read it: whatever is asked, by whoever holds whichever privileges
 * that do not cover the datasets there are, no query about one of them gets as far as the store.
 */
const others: readonly DatasetInfo[] = [
  { tenant: defaultTenant, name: 'm', id: 'm', kind: 'metrics', columns: new Map(), ready: true },
  {
    tenant: defaultTenant,
    name: auditDataset,
    id: auditDataset,
    kind: 'events',
    columns: new Map(),
    ready: true,
  },
];
const sent: string[] = [];
const ask = asker(
  queryService(
    {
      stream: (sql) => {
        sent.push(sql);
        return {
          progress: undefined,
          async *[Symbol.asyncIterator]() {
            yield { parts: [Buffer.from('[]')], isLast: true };
          },
        };
      },
    },
    catalogOf(fixtures, others),
    { readableRows },
  ),
);

const names = [...fixtures, ...others].map(({ name }) => name);
const tag = { field: 'level', value: 'info' };

/** What lets nobody read any of them: writing anywhere, and reading or administering what is not there. */
const harmless: fc.Arbitrary<Privilege> = fc.oneof(
  fc.constant<Privilege>({ privilege: 'ingestor' }),
  fc.constantFrom(...names).map((dataset): Privilege => ({ privilege: 'ingestor', dataset })),
  fc
    .record({
      privilege: fc.constantFrom('admin' as const, 'writer' as const, 'reader' as const),
      dataset: fc.constantFrom('elsewhere', 'App', 'app2', 'ap'),
    })
    .map((privilege): Privilege => privilege),
  fc.constant<Privilege>({ privilege: 'reader', dataset: 'elsewhere', tag }),
  // These name the audit trail, which no privilege on a dataset opens.
  fc
    .constantFrom('admin' as const, 'reader' as const)
    .map((privilege): Privilege => ({ privilege, dataset: auditDataset })),
);

const queries: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom(...readCases('same/everyday.sql').map(({ query }) => query)),
  anyExpression.map((expression) => `SELECT ${expression} FROM app`),
  fc
    .constantFrom(...names)
    .chain((name) =>
      fc.constantFrom(
        `SELECT * FROM ${name}`,
        `SELECT 1 WHERE EXISTS (SELECT 1 FROM ${name})`,
        `WITH x AS (SELECT count(*) AS n FROM ${name}) SELECT n FROM x`,
        `SELECT (SELECT max(p_timestamp) FROM ${name})`,
        `SELECT 1 UNION ALL SELECT 1 FROM ${name} LIMIT 0`,
        `SELECT 1 FROM (SELECT 1 AS a) x LEFT JOIN ${name} y ON false`,
        `SELECT * FROM ${name}.series`,
        `SELECT * FROM "${name}"`,
      ),
    ),
);

test('no privilege but one to read lets a query about a dataset reach the store', async () => {
  const codes = new Set<string>();
  await fc.assert(
    fc.asyncProperty(fc.array(harmless, { maxLength: 5 }), queries, async (privileges, sql) => {
      const principal: Principal = { kind: 'apiKey', name: 'k', tenant: defaultTenant, privileges };
      sent.length = 0;
      await ask(sql, { principal }).catch((error: unknown) => {
        if (!(error instanceof AppError)) throw error;
        codes.add(error.code);
      });
      for (const statement of sent) expect(statement).not.toContain(databaseOf(defaultTenant));
    }),
    { numRuns: 500 },
  );
  expect(codes).toContain('forbidden');
  expect(codes).toContain('sql_unknown_relation');
});

test('the same queries do reach it with one', async () => {
  const principal: Principal = {
    kind: 'apiKey',
    name: 'k',
    tenant: defaultTenant,
    privileges: [{ privilege: 'admin' }],
  };
  for (const name of names) {
    sent.length = 0;
    await ask(`SELECT 1 WHERE EXISTS (SELECT 1 FROM ${name})`, { principal });
    expect(sent.join()).toContain(databaseOf(defaultTenant));
  }
});
