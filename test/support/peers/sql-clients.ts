import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { onPath } from '../lib/child.ts';

const sources = fileURLToPath(new URL('sql-clients', import.meta.url));

/** What `sql-clients/install.sh` names its folder by. */
const parts = [
  'install.sh',
  'Jdbc.java',
  'go/main.go',
  'go/go.mod',
  'go/go.sum',
  'rust/src/main.rs',
  'rust/Cargo.toml',
  'rust/Cargo.lock',
  'npgsql/Program.cs',
  'npgsql/dotnet.sh',
];

/** Where `sql-clients/install.sh` puts what it gets and builds. */
export function sqlClientsFolder(): string {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(readFileSync(join(sources, part)));
  return join(tmpdir(), `millrace-sql-clients-${hash.digest('hex').slice(0, 16)}`);
}

/** Where Debian puts PostgreSQL's driver of ODBC. */
const odbcDriver = `/usr/lib/${process.arch === 'arm64' ? 'aarch64' : 'x86_64'}-linux-gnu/odbc/psqlodbcw.so`;

/**
 * A program that works with one kind of client, and prints `ok …` or `failed …` for each thing that it tried.
 */
export interface SqlClientProgram {
  /** What pages of the documentation call it: `requires: sql-client:jdbc`. */
  readonly id: string;
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** How many lines it prints. */
  readonly checks: number;
  /** Why it cannot run here; undefined if it can. */
  readonly problem: string | undefined;
}

/** Those that there are, whether they can run here or not. */
export function sqlClientPrograms(): readonly SqlClientProgram[] {
  const folder = sqlClientsFolder();
  const here = (name: string): string => join(sources, name);
  const built = (name: string, also?: string): string | undefined =>
    existsSync(join(folder, name)) ? also : `test/support/peers/sql-clients/install.sh has not got ${name}`;
  const probe = (command: string, ...args: readonly string[]): string | undefined => {
    if (!onPath(command)) return `there is no ${command} on the PATH`;
    const { status } = spawnSync(command, args, { stdio: 'ignore' });
    return status === 0 ? undefined : `${command} cannot: ${args.join(' ')}`;
  };
  // They share checks.py, whose bytecode must not be left among the sources.
  const python = { PYTHONWARNINGS: 'ignore', PYTHONDONTWRITEBYTECODE: '1' };
  return [
    {
      id: 'jdbc',
      name: 'pgjdbc',
      command: 'java',
      args: ['-cp', `${folder}/jdbc:${folder}/jdbc/postgresql.jar`, 'Jdbc'],
      checks: 30,
      problem: built('jdbc', probe('java', '-version')),
    },
    {
      id: 'go',
      name: 'pgx and lib/pq',
      command: join(folder, 'go/clients'),
      args: [],
      checks: 31,
      problem: built('go'),
    },
    {
      id: 'rust',
      name: 'tokio-postgres',
      command: join(folder, 'rust/clients'),
      args: [],
      checks: 10,
      problem: built('rust'),
    },
    {
      id: 'adbc',
      name: 'ADBC',
      command: 'python3',
      args: [here('adbc.py')],
      env: { ...python, PYTHONPATH: join(folder, 'adbc') },
      checks: 8,
      problem: built('adbc', probe('python3', '-c', 'import pandas, polars, pyarrow')),
    },
    {
      id: 'duckdb',
      name: "DuckDB's postgres extension",
      command: 'python3',
      args: [here('duckdb-postgres.py')],
      env: { ...python, PYTHONPATH: join(folder, 'duckdb') },
      checks: 8,
      problem: built('duckdb', probe('python3', '-c', 'import pytz')),
    },
    {
      id: 'odbc',
      name: 'ODBC',
      command: 'python3',
      args: [here('odbc.py')],
      env: { ...python, PYTHONPATH: join(folder, 'odbc'), ODBC_DRIVER: odbcDriver },
      checks: 7,
      problem: built('odbc', existsSync(odbcDriver) ? undefined : `there is no ${odbcDriver}`),
    },
    {
      id: 'npgsql',
      name: 'Npgsql',
      command: join(folder, 'npgsql/bin/dotnet'),
      args: ['exec', join(folder, 'npgsql/checks/Program.exe')],
      checks: 24,
      problem: built('npgsql', onPath('mcs') ? undefined : 'there is no mcs on the PATH'),
    },
    {
      id: 'perl',
      name: 'DBD::Pg',
      command: 'perl',
      args: [here('dbi.pl')],
      checks: 10,
      problem: probe('perl', '-MDBD::Pg', '-e', '1'),
    },
    {
      id: 'php',
      name: 'PHP',
      command: 'php',
      args: [here('pdo.php')],
      checks: 7,
      problem: probe('php', '-r', 'exit(extension_loaded("pdo_pgsql") ? 0 : 1);'),
    },
    {
      id: 'ruby',
      name: 'Ruby',
      command: 'ruby',
      args: [here('pg.rb')],
      checks: 9,
      problem: probe('ruby', '-rpg', '-e', '1'),
    },
  ];
}
