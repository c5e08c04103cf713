import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decide, mayEnter, readableRows } from '../../../src/auth/policy.ts';
import type { Action, Principal, Privilege, PrivilegeName, Tag } from '../../../src/model/identity.ts';

const names: readonly PrivilegeName[] = ['admin', 'editor', 'writer', 'reader', 'ingestor', 'exporter'];
/** Of which privileges decide; anybody may ask about themselves. */
type Decided = Exclude<Action, 'identity.self'>;

const principal = (...privileges: Privilege[]): Principal => ({
  kind: 'user',
  name: 'u',
  tenant: 'default',
  privileges,
});

/** Which privileges grant which action, in the order of `names`. */
const granted: Readonly<Record<Decided, readonly boolean[]>> = {
  ingest: [true, true, true, false, true, false],
  query: [true, true, true, true, false, false],
  'query.export': [true, false, false, false, false, true],
  'dataset.list': [true, true, true, true, false, false],
  'dataset.read': [true, true, true, true, false, false],
  'dataset.manage': [true, true, false, false, false, false],
  'identity.manage': [true, false, false, false, false, false],
  'tenant.manage': [false, false, false, false, false, false],
  'backup.manage': [false, false, false, false, false, false],
  'dashboard.read': [true, true, true, true, false, false],
  'dashboard.write': [true, true, true, false, false, false],
  'filter.read': [true, true, true, true, false, false],
  'filter.write': [true, true, true, false, false, false],
  'alert.read': [true, true, true, true, false, false],
  'alert.write': [true, true, true, false, false, false],
  'target.read': [true, true, true, false, false, false],
  'target.manage': [true, true, false, false, false, false],
  'document.manage': [true, true, false, false, false, false],
  'service.read': [true, true, true, true, false, false],
};
const actions = Object.keys(granted) as readonly Decided[];

/** Whether a granting privilege on dataset `a` suffices when asked about: `a`, `b`, no dataset. */
const scoped: Readonly<Record<Decided, readonly [boolean, boolean, boolean]>> = {
  ingest: [true, false, false],
  query: [true, false, true],
  'query.export': [true, false, true],
  'dataset.list': [true, false, true],
  'dataset.read': [true, false, false],
  'dataset.manage': [true, false, false],
  'identity.manage': [false, false, false],
  'tenant.manage': [false, false, false],
  'backup.manage': [false, false, false],
  'dashboard.read': [true, false, true],
  'dashboard.write': [true, false, true],
  'filter.read': [true, false, true],
  'filter.write': [true, false, true],
  'alert.read': [true, false, true],
  'alert.write': [true, false, true],
  'target.read': [true, false, true],
  'target.manage': [false, false, false],
  'document.manage': [false, false, false],
  'service.read': [true, false, true],
};

const cases = actions.flatMap((action) => names.map((name, index) => ({ action, name, index })));

describe('decide', () => {
  it.each(cases)('$name on everything, asking for $action', ({ action, name, index }) => {
    for (const dataset of ['a', undefined]) {
      expect(decide(principal({ privilege: name }), action, dataset)).toBe(granted[action][index]);
    }
  });

  it.each(cases)('$name on one dataset, asking for $action', ({ action, name, index }) => {
    const one = principal({ privilege: name, dataset: 'a' });
    const [own, other, none] = scoped[action];
    expect(decide(one, action, 'a')).toBe(granted[action][index] && own);
    expect(decide(one, action, 'b')).toBe(granted[action][index] && other);
    expect(decide(one, action)).toBe(granted[action][index] && none);
  });

  it.each(actions)('nobody without privileges may %s', (action) => {
    expect(decide(principal(), action)).toBe(false);
    expect(decide(principal(), action, 'a')).toBe(false);
  });

  it('lets anybody ask about themselves', () => {
    expect(decide(principal(), 'identity.self')).toBe(true);
  });

  const privileges = fc.array(
    fc.record(
      { privilege: fc.constantFrom(...names), dataset: fc.constantFrom('a', 'b') },
      { requiredKeys: ['privilege'] },
    ),
  );

  it('allows exactly what one of the privileges allows by itself', () => {
    fc.assert(
      fc.property(
        privileges,
        fc.constantFrom(...actions),
        fc.constantFrom('a', 'b', 'c', undefined),
        (held, action, dataset) => {
          const alone = held.some((privilege) => decide(principal(privilege), action, dataset));
          expect(decide(principal(...held), action, dataset)).toBe(alone);
        },
      ),
    );
  });
});

describe('the root administrator', () => {
  const root: Principal = { ...principal({ privilege: 'admin' }), kind: 'root' };

  it('alone manages tenants', () => {
    expect(decide(root, 'tenant.manage')).toBe(true);
    expect(decide(principal({ privilege: 'admin' }), 'tenant.manage')).toBe(false);
  });

  it('alone enters tenants other than its own', () => {
    const kinds = ['user', 'apiKey', 'oidc'] as const;
    for (const tenant of ['default', 'acme', '']) expect(mayEnter(root, tenant)).toBe(true);
    for (const kind of kinds) {
      const other = { ...principal({ privilege: 'admin' }), kind };
      expect(mayEnter(other, 'default')).toBe(true);
      for (const tenant of ['acme', 'Default', 'default.2', '']) expect(mayEnter(other, tenant)).toBe(false);
    }
  });
});

describe('the rows that somebody may read', () => {
  const tag = fc.constantFrom<Tag | undefined>(
    undefined,
    { field: 'f', value: '1' },
    { field: 'f', value: '2' },
  );
  const held = fc.array(
    fc.tuple(fc.constantFrom(...names), fc.constantFrom(undefined, 'a', 'b'), tag).map(
      ([privilege, dataset, narrowed]): Privilege => ({
        privilege,
        ...(dataset === undefined ? {} : { dataset }),
        ...(narrowed === undefined || privilege !== 'reader' ? {} : { tag: narrowed }),
      }),
    ),
  );

  it('are those of all privileges that let read and are of the dataset or of all, in their order', () => {
    fc.assert(
      fc.property(held, fc.constantFrom('a', 'b', 'c'), (privileges, dataset) => {
        const granting = privileges.filter(
          (each) =>
            !['ingestor', 'exporter'].includes(each.privilege) && (each.dataset ?? dataset) === dataset,
        );
        const tags = granting.flatMap((each) => (each.tag === undefined ? [] : [each.tag]));
        const all = tags.length < granting.length ? 'all' : tags;
        expect(readableRows(principal(...privileges), dataset)).toEqual(granting.length === 0 ? 'none' : all);
      }),
    );
  });

  it('and what may be done are known without a look at all privileges for each dataset', () => {
    let looks = 0;
    const many: readonly Privilege[] = new Proxy(
      Array.from(
        { length: 2000 },
        (_, index): Privilege => ({
          privilege: 'reader',
          dataset: `d${index}`,
          tag: { field: 'f', value: `${index}` },
        }),
      ),
      {
        get: (target, property, receiver) => {
          looks += 1;
          return Reflect.get(target, property, receiver);
        },
      },
    );
    const reader = principal();
    const asked = { ...reader, privileges: many };
    for (let index = 0; index < 4000; index += 1) {
      expect(decide(asked, 'dataset.list', `d${index}`)).toBe(index < 2000);
      expect(readableRows(asked, `d${index}`)).toEqual(
        index < 2000 ? [{ field: 'f', value: `${index}` }] : 'none',
      );
    }
    expect(looks).toBeLessThan(3 * many.length);
    expect(readableRows(asked, 'd7')).toBe(readableRows(asked, 'd7'));
  });
});
