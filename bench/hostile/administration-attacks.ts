import { remove as drop, administer as put } from './administer.ts';
import { type Attack, flood, pick, repeated, wrapped } from './attack.ts';

/** Attacks by the administrator of one tenant on the others. */

const changes = [
  'overloaded',
  'rate_limited',
  'bad_role',
  'bad_name',
  'bad_request',
  'bad_json',
  'identity_changed',
  'identity_exists',
  'too_many_identities',
  'too_many_datasets',
  'role_unknown',
  'role_in_use',
  'not_found',
  'dataset_exists',
  'dataset_not_found',
  'body_too_large',
  'bad_retention',
  'bad_limits',
  'bad_dataset_options',
  'forbidden',
];

const tagged = (count: number, prefix: string, tagLength: number) =>
  Array.from({ length: count }, (_, index) => ({
    privilege: 'reader',
    resource: { dataset: 'app', tag: `level=${prefix}${index}-`.padEnd(tagLength, 'v') },
  }));

const filter = {
  stream_name: 'app',
  filter_name: 'many',
  query: { filter_type: 'search', filter_query: 'x' },
};
const deepBuilder = {
  combinator: 'and',
  rules: Array<unknown>(10_000).fill({ combinator: 'and', rules: [] }),
};

export const administrationAttacks: readonly Attack[] = [
  {
    name: 'roles-many',
    aim: '300 roles, made and deleted, 50 at a time',
    codes: changes,
    run: async (attacker, size) => {
      const count = pick([300, 10], size);
      const made = await flood(count, 50, (index) =>
        put(attacker, `/api/v1/role/many${index}`, [{ privilege: 'reader', resource: { dataset: 'app' } }]),
      );
      return [...made, ...(await flood(count, 50, (index) => drop(attacker, `/api/v1/role/many${index}`)))];
    },
  },
  {
    name: 'documents-many',
    aim: '300 dashboards and filters of 200 kB, more than there may be, and lists of them, 50 at a time',
    codes: [...changes, 'too_many_documents', 'document_too_large', 'document_changed'],
    run: async (attacker, size) => {
      const count = pick([300, 10], size);
      const filler = 'x'.repeat(pick([200_000, 2000], size));
      const made = await flood(count, 50, (index) =>
        index % 2 === 0
          ? put(attacker, '/api/v1/dashboards', { title: `many ${index}`, filler }, 'POST')
          : put(attacker, '/api/v1/filters', { ...filter, filler }, 'POST'),
      );
      const read = (path: string) => attacker.send({ as: 'admin', method: 'GET', path });
      const listed = await flood(pick([100, 4], size), 50, (index) =>
        read(index % 2 === 0 ? '/api/v1/dashboards' : '/api/v1/filters'),
      );
      return [...made, ...listed];
    },
  },
  {
    name: 'document-bodies',
    aim: 'bodies of 1 MB that are no dashboard: deep, of very many members, tiles and tags',
    codes: [...changes, 'too_many_documents', 'document_too_large', 'sql_syntax', 'sql_too_large'],
    run: (attacker) => {
      const post = (body: unknown, path = '/api/v1/dashboards') => put(attacker, path, body, 'POST');
      return Promise.all([
        post(`{"title":"x","deep":${wrapped(20_000, '[', '', ']')}}`),
        post(wrapped(500_000, '[', '', ']')),
        post(`{"title":"x",${repeated(49_000, (i) => `"a${i}":1`, ',')}}`),
        post(`{"title":"x","tiles":[${repeated(40_000, '{}', ',')}]}`),
        post({ title: 'x', tags: Array<string>(40_000).fill('t') }),
        post({ title: 'x'.repeat(900_000) }),
        post(
          { ...filter, query: { filter_type: 'sql', filter_query: 'SELECT '.repeat(30_000) } },
          '/api/v1/filters',
        ),
        post({ ...filter, query: { filter_type: 'filter', filter_builder: deepBuilder } }, '/api/v1/filters'),
      ]);
    },
  },
  {
    name: 'role-bodies',
    aim: 'bodies of 2 MB that are no role: deep, of very many entries, of long names',
    codes: changes,
    run: (attacker) =>
      Promise.all([
        put(attacker, '/api/v1/role/x', wrapped(900_000, '[', '', ']')),
        put(attacker, '/api/v1/role/x', `[${repeated(300_000, '{}', ',')}]`),
        put(attacker, '/api/v1/role/x', tagged(1001, '', 20)),
        put(attacker, '/api/v1/role/x', tagged(10, '', 1100)),
        put(attacker, '/api/v1/role/x', [{ privilege: 'x'.repeat(1_000_000) }]),
        put(attacker, '/api/v1/role/x', `{${repeated(100_000, (i) => `"a${i}":1`, ',')}}`),
        put(attacker, '/api/v1/user/x', Array<string>(200_000).fill('reader'), 'POST'),
        put(
          attacker,
          '/api/console/v1/apikeys',
          { keyName: 'x', roles: Array<string>(100_000).fill('reader') },
          'POST',
        ),
      ]),
  },
  {
    name: 'users-many',
    aim: '200 users, 40 at a time: each has a password that is hashed',
    codes: changes,
    run: (attacker, size) =>
      flood(pick([200, 6], size), 40, (index) =>
        put(attacker, `/api/v1/user/user${index}`, ['reader'], 'POST'),
      ),
  },
  {
    name: 'passwords-new',
    aim: '100 new passwords for one user at once',
    codes: changes,
    run: async (attacker, size) => [
      await put(attacker, '/api/v1/user/renewed', ['reader'], 'POST'),
      ...(await flood(pick([100, 4], size), 50, () =>
        put(attacker, '/api/v1/user/renewed/generate-new-password', '', 'POST'),
      )),
    ],
  },
  {
    name: 'keys-many',
    aim: '500 API keys, and the list of them over and over',
    codes: changes,
    run: async (attacker, size) => [
      ...(await flood(pick([500, 10], size), 50, (index) =>
        put(attacker, '/api/console/v1/apikeys', { keyName: `key${index}`, roles: ['reader'] }, 'POST'),
      )),
      ...(await flood(pick([200, 10], size), 20, () =>
        attacker.send({ as: 'admin', path: '/api/console/v1/apikeys' }),
      )),
    ],
  },
  {
    name: 'datasets-loop',
    aim: 'datasets made and deleted, 100 times, 10 at a time, with an event between',
    codes: changes,
    run: (attacker, size) =>
      flood(pick([100, 6], size), 10, async (index) => {
        const path = `/api/v1/logstream/loop${index % 20}`;
        const made = await put(attacker, path, '');
        await attacker.ingest('[{"a":1}]', {}, `loop${index % 20}`);
        const dropped = await drop(attacker, path);
        return dropped.status === 200 ? made : dropped;
      }),
  },
  {
    name: 'datasets-wide',
    aim: '20 datasets of a schema of 999 fields each',
    codes: changes,
    run: (attacker, size) => {
      const fields = Array.from({ length: 999 }, (_, index) => ({ name: `f${index}`, data_type: 'string' }));
      return flood(pick([20, 2], size), 5, (index) =>
        attacker.send({
          as: 'admin',
          method: 'PUT',
          path: `/api/v1/logstream/static${index}`,
          headers: { 'content-type': 'application/json', 'x-p-static-schema-flag': 'true' },
          body: JSON.stringify({ fields }),
        }),
      );
    },
  },
  {
    name: 'retention-loop',
    aim: 'retention changed 200 times: each may rewrite tables',
    codes: changes,
    run: (attacker, size) =>
      flood(pick([200, 6], size), 20, (index) =>
        put(attacker, '/api/v1/logstream/app/retention', [
          { description: 'x', action: 'delete', duration: `${300 + (index % 50)}d` },
        ]),
      ),
  },
  {
    name: 'limits-loop',
    aim: 'limits of a dataset set and deleted 200 times',
    codes: changes,
    run: (attacker, size) =>
      flood(pick([200, 6], size), 20, (index) =>
        index % 2 === 0
          ? put(attacker, '/api/v1/logstream/app/limits', { maxColumns: 500 + index })
          : drop(attacker, '/api/v1/logstream/app/limits'),
      ),
  },
  {
    name: 'lists-loop',
    aim: 'everything that lists something, 500 times, 25 at a time',
    codes: changes,
    run: (attacker, size) => {
      const paths = [
        '/api/v1/logstream',
        '/api/v1/roles',
        '/api/v1/users',
        '/api/v1/logstream/app/stats',
        '/api/v1/logstream/app/info',
        '/api/v1/logstream/wide/schema',
        '/api/v1/logstream/app/stats?date=2024-01-01',
      ];
      return flood(pick([500, 14], size), 25, (index) =>
        attacker.send({ as: 'admin', path: paths[index % paths.length] ?? '' }),
      );
    },
  },
  // These run last, since what they create stays in memory.
  {
    name: 'roles-heavy',
    aim: '100 roles of 1,000 privileges with long tags on one key, which then asks 20 small queries',
    codes: [
      ...changes,
      'sql_too_large',
      'sql_too_complex',
      'too_many_privileges',
      'query_memory',
      'query_timeout',
    ],
    run: async (attacker, size) => {
      const roles = Array.from({ length: pick([100, 3], size) }, (_, index) => `heavy${index}`);
      const made = await flood(roles.length, 4, (index) =>
        put(attacker, `/api/v1/role/${roles[index]}`, tagged(pick([1000, 100], size), `${index}-`, 900)),
      );
      let apiKey = '';
      const key = await attacker.send({
        as: 'admin',
        method: 'POST',
        path: '/api/console/v1/apikeys',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ keyName: 'heavy', roles }),
        onText: (text) => {
          apiKey = (JSON.parse(text) as { apiKey: string }).apiKey;
        },
      });
      const asked = await flood(apiKey === '' ? 0 : 20, 4, (index) =>
        attacker.query(`SELECT count(*) + ${index} FROM app`, {
          as: 'nobody',
          headers: { 'x-api-key': apiKey },
        }),
      );
      return [...made, key, ...asked];
    },
  },
  {
    name: 'roles-list',
    aim: 'the list of these roles, 25 at a time',
    codes: changes,
    run: (attacker, size) =>
      flood(pick([200, 10], size), 25, () => attacker.send({ as: 'admin', path: '/api/v1/roles' })),
  },
];
