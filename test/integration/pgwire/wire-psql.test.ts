import { existsSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { postgresBinaries } from '../../sql/postgres.ts';
import { Child, removeFolder, temporaryFolder } from '../../support/lib/child.ts';
import { sayIfSkipped } from '../../support/lib/skipped.ts';
import { pgPassword } from '../../support/sql/pg-server.ts';
import {
  type PostgresAddress,
  type PostgresPair,
  startPostgresPair,
} from '../../support/sql/postgres-pair.ts';

/** Scripts of psql print the same of Millrace and of PostgreSQL, errors too. */
const psql = '/usr/bin/psql';
const bin = postgresBinaries();
const problem = bin === undefined || !existsSync(psql) ? 'PostgreSQL or psql is not installed' : undefined;
sayIfSkipped('scripts of psql', problem);

const levels = 'select level, count(*) as n from app group by level order by level';
const scripts: ReadonlyArray<readonly [name: string, script: string, options?: readonly string[]]> = [
  ['expanded display', `\\x\nselect level, ms, ok from app order by id limit 3;\n\\x auto\n${levels};`],
  [
    'variables',
    `\\set lim 2\n\\set lvl 'warn'\nselect :lim as n, :'lvl' as l;\n${levels} limit :lim;\n\\echo :lvl`,
  ],
  [
    '\\gset and \\if',
    `select count(*) as events from app \\gset\n\\echo :events\n\\if :events\n\\echo some\n\\else\n\\echo none\n\\endif`,
  ],
  [
    '\\gexec',
    `select format('select %L as level, %s as n', level, count(*)) from app group by level order by level \\gexec`,
  ],
  [
    '\\gdesc',
    `select id, level, p_timestamp, 1 as n, 1.50::numeric(10,2) as d, array['a'] as a from app \\gdesc`,
  ],
  ['\\gx', `${levels} \\gx`],
  [
    '\\crosstabview',
    `select level, ok, count(*) from app where ok is not null group by 1, 2 order by 1, 2 \\crosstabview level ok`,
  ],
  [
    'formats',
    `\\pset null '~'\nselect ms, ok from app order by id limit 3;\n\\pset format unaligned\n${levels};\n\\pset format html\n${levels};\n\\pset format latex\n${levels};\n\\t\n${levels};`,
  ],
  ['--csv', `select message, ms from app order by id limit 8;`, ['--csv']],
  [
    'FETCH_COUNT',
    `\\set FETCH_COUNT 7\nselect id, level from app order by id;\nselect id from app where id < 0;\nselect id from app order by id limit 7;`,
  ],
  [
    'FETCH_COUNT in a transaction',
    `\\set FETCH_COUNT 7\nbegin;\nselect id from app order by id limit 15;\nselect nope from app;\nselect 1;\nrollback;`,
  ],
  [
    '\\copy',
    `\\copy (select id, level, message from app order by id limit 7) to stdout\n\\copy (select id, message from app order by id limit 7) to stdout csv header\n\\copy (select id, ms from app order by id limit 2) to stdout with (format csv, delimiter ';', null 'NULL')\n\\copy (select message from app order by id limit 5) to stdout with delimiter E'\\t' null as ''`,
  ],
  [
    'COPY in a script',
    `copy (select 1, null, 'a\tb') to stdout;\ncopy (select 1 where false) to stdout csv header;\ncopy (select nope from app) to stdout;`,
  ],
  ['errors with their place', `select nope\nfrom app;\nselect * from nowhere;`],
  [
    'VERBOSITY',
    `\\set VERBOSITY sqlstate\nselect nope from app;\nselect 1 +;\nselect * from nowhere;\n\\set SHOW_CONTEXT always\n\\echo :SQLSTATE :ERROR :ROW_COUNT :LAST_ERROR_SQLSTATE`,
  ],
  ['several statements in a line', `select 1; select 2; select nope; select 3;`],
  [
    'several statements in one message',
    `select 1\\; select 2\\; select 3;\nselect 4\\; select nope\\; select 5;\nbegin\\; select 6\\; commit;`,
  ],
  ['ON_ERROR_STOP', `\\set ON_ERROR_STOP on\nselect 1;\nselect nope;\nselect 2;`],
  [
    'ON_ERROR_ROLLBACK',
    `\\set ON_ERROR_ROLLBACK on\nbegin;\nselect 1 as a;\nselect nope from app;\nselect 2 as b;\ncommit;`,
  ],
  ['--single-transaction', `select 1;\nselect 2;`, ['--single-transaction']],
  [
    'AUTOCOMMIT off',
    `\\set AUTOCOMMIT off\nselect 1;\nselect nope;\nselect 2;\nrollback;\nselect 3;\ncommit;`,
  ],
  [
    'transactions',
    `begin;\nsavepoint a;\nselect nope;\nrollback to a;\nselect 1;\nrelease a;\ncommit;\ncommit;\nrollback;\nsavepoint b;`,
  ],
  [
    'cursors',
    `begin;\ndeclare c cursor for select id from app order by id;\nfetch 2 from c;\nmove 3 in c;\nfetch next from c;\nfetch forward 2 from c;\nclose c;\nfetch 1 from c;\nrollback;`,
  ],
  [
    'settings',
    `set timezone = 'Asia/Kolkata';\nshow timezone;\nselect timestamptz '2024-01-01 00:00+00' as t;\nreset timezone;\nshow timezone;\nset nonsense = 1;\n\\encoding`,
  ],
  ['\\g and the footer', `select 1 as x \\g\n\\pset footer off\n${levels};`],
  ['tables of values', `values (1, 'a'), (2, null);\ntable dept;\n;\nselect 1 as "a b", 2 as "Ä";`],
];

describe.skipIf(problem !== undefined)('psql', () => {
  const folder = temporaryFolder('psql');
  let pair: PostgresPair;

  beforeAll(async () => {
    pair = await startPostgresPair(bin ?? '');
  });
  afterAll(async () => {
    await pair?.stop();
    removeFolder(folder);
  });

  test.each(scripts.map(([name, script, options = []]) => ({ name, script, options })))(
    '$name',
    async ({ script, options }) => {
      const to = async ({ host, port, user, database }: PostgresAddress): Promise<string> => {
        const connection = [
          '-h',
          host,
          ...(port === undefined ? [] : ['-p', String(port)]),
          '-U',
          user,
          '-d',
          database,
        ];
        const child = await Child.start({
          name: 'psql',
          command: 'sh',
          args: ['-c', 'printf "%s\\n" "$SCRIPT" | psql "$@" 2>&1', 'psql', '-X', ...connection, ...options],
          env: { SCRIPT: script, PGPASSWORD: pgPassword },
          cwd: folder,
        });
        const { code } = await child.exited;
        return `${child.stdout}exit ${code}`;
      };
      const expected = await to(pair.postgres);
      expect(withoutHints(await to(pair.millrace))).toBe(withoutHints(expected));
    },
  );
});

/** Hints are each server's own. */
const withoutHints = (text: string): string => text.replace(/^(HINT|DETAIL): .*\n/gm, '');
