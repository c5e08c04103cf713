import { expect, it } from 'vitest';
import { decide } from '../../../src/auth/policy.ts';
import { auditDataset } from '../../../src/model/dataset.ts';
import { type Action, privilegeNames } from '../../../src/model/identity.ts';
import { readPage } from '../../support/docs/markdown-pages.ts';

/** The rows of the documentation's table of privileges, and what each is to the policy. */
const rows: ReadonlyArray<readonly [what: string, action: Action, dataset: string | undefined]> = [
  ['write events, logs, metrics, traces', 'ingest', 'app'],
  ['query', 'query', 'app'],
  ['[export](query/sql.md#exports) what they may query', 'query.export', 'app'],
  ["read a dataset's schema, info, stats, retention, limits", 'dataset.read', 'app'],
  ['create or delete a dataset, set its retention and limits', 'dataset.manage', 'app'],
  ['see [dashboards and saved filters](dashboards.md)', 'dashboard.read', undefined],
  ['write dashboards and saved filters', 'dashboard.write', undefined],
  ['change those of others, and see private ones', 'document.manage', undefined],
  ['manage roles, users and API keys', 'identity.manage', undefined],
  ['query [`millrace_audit`](#audit-trail)', 'query', auditDataset],
];

it('the privileges of docs/security.md are those of the policy', () => {
  const page = readPage('docs/security.md');
  const table = page.slice(page.indexOf('A **role** is an array')).split('\n\n')[1] ?? '';
  const cells = table.split('\n').map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
  const [header = [], , ...body] = cells;
  expect(header.slice(1).toSorted()).toEqual(privilegeNames.toSorted());
  const expected = rows.map(([what, action, dataset]) => {
    const allowed = header.slice(1).map((name) => {
      const privilege = privilegeNames.find((each) => each === name) ?? 'reader';
      const principal = { kind: 'user', name: 'x', tenant: 'default', privileges: [{ privilege }] } as const;
      return decide(principal, action, dataset) ? 'yes' : 'no';
    });
    return [what, ...allowed];
  });
  expect(body).toEqual(expected);
});
