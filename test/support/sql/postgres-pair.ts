import pg from 'pg';
import { catalogOf, fixtures, loadEvents, postgresStatements } from '../../sql/fixtures.ts';
import { Postgres } from '../../sql/postgres.ts';
import { queryService } from '../../sql/querier.ts';
import { openTestStore } from '../clickhouse/test-store.ts';
import { pgPassword, startPgServer } from './pg-server.ts';

/** Where `psql` and drivers find a server. */
export interface PostgresAddress {
  readonly host: string;
  readonly port: number | undefined;
  readonly user: string;
  readonly database: string;
}

/**
 * Millrace and PostgreSQL, which have the same tables with the same rows: those of `test/sql/fixtures.ts`.
 */
export interface PostgresPair {
  readonly millrace: PostgresAddress;
  readonly postgres: PostgresAddress;
  stop(): Promise<void>;
}

/** @param bin where PostgreSQL's programs are */
export async function startPostgresPair(bin: string): Promise<PostgresPair> {
  const postgres = await Postgres.start(bin);
  const store = await openTestStore();
  for (const fixture of fixtures) {
    await postgres.execute(postgresStatements(fixture));
    await postgres.execute(`ALTER TABLE ${fixture.name} ALTER COLUMN p_timestamp SET NOT NULL`);
    await loadEvents(store.store, fixture);
  }
  const server = await startPgServer(queryService(store.store, catalogOf(fixtures)));
  return {
    millrace: { host: '127.0.0.1', port: server.port, user: 'admin', database: 'millrace' },
    postgres: { host: postgres.directory, port: undefined, user: 'test', database: 'postgres' },
    stop: async () => {
      await server.stop();
      await store.close();
      await postgres.stop();
    },
  };
}

/** The same, with a client of node-postgres on each. */
export interface PostgresPairClients {
  readonly ours: pg.Client;
  readonly theirs: pg.Client;
  stop(): Promise<void>;
}

/** @param bin where PostgreSQL's programs are */
export async function connectPostgresPair(bin: string): Promise<PostgresPairClients> {
  const { millrace, postgres, stop } = await startPostgresPair(bin);
  const ours = new pg.Client({ ...millrace, password: pgPassword });
  const theirs = new pg.Client(postgres);
  await Promise.all([ours.connect(), theirs.connect()]);
  return {
    ours,
    theirs,
    stop: async () => {
      await Promise.all([ours.end(), theirs.end()]);
      await stop();
    },
  };
}
