import pg from 'pg';
import { catalogOf, type Fixture, loadEvents, postgresStatements } from '../../sql/fixtures.ts';
import { Postgres } from '../../sql/postgres.ts';
import { queryService } from '../../sql/querier.ts';
import { openTestStore, type TestStore } from '../clickhouse/test-store.ts';
import { pgPassword, startPgServer, type TestPgServer } from './pg-server.ts';

/** A session with Millrace and one with PostgreSQL, on the same data, to compare what they answer as text. */
export class ComparedSessions {
  readonly ours: pg.Client;
  readonly theirs: pg.Client;
  readonly #stop: () => Promise<void>;

  private constructor(store: TestStore, server: TestPgServer, oracle: Postgres) {
    const { port } = server;
    const account = { user: 'admin', password: pgPassword, database: 'millrace' };
    this.ours = new pg.Client({ host: '127.0.0.1', port, ...account });
    this.theirs = new pg.Client({ host: oracle.directory, user: 'test', database: 'postgres' });
    this.#stop = async () => {
      await server.stop();
      await store.close();
      await oracle.stop();
    };
  }

  /** @param bin where the programs of PostgreSQL are */
  static async start(bin: string, fixtures: readonly Fixture[]): Promise<ComparedSessions> {
    const oracle = await Postgres.start(bin);
    const store = await openTestStore();
    for (const fixture of fixtures) {
      await oracle.execute(postgresStatements(fixture));
      await loadEvents(store.store, fixture);
    }
    const server = await startPgServer(queryService(store.store, catalogOf(fixtures)));
    const sessions = new ComparedSessions(store, server, oracle);
    await Promise.all([sessions.ours.connect(), sessions.theirs.connect()]);
    return sessions;
  }

  async stop(): Promise<void> {
    await this.ours.end();
    await this.theirs.end();
    await this.#stop();
  }

  /** Runs a statement in both. */
  async both(text: string): Promise<void> {
    for (const client of [this.ours, this.theirs]) await client.query(text);
  }

  /** What each answers. */
  async ask(text: string, values: readonly string[] = []): Promise<readonly [string[], string[]]> {
    return [await rowsOf(this.ours, text, values), await rowsOf(this.theirs, text, values)];
  }

  /** As `ask`; in the place of rows, the SQLSTATE of an error. */
  async outcomes(text: string): Promise<readonly [string[] | string, string[] | string]> {
    const code = (error: unknown) => (error as pg.DatabaseError).code ?? 'no code';
    return [await rowsOf(this.ours, text).catch(code), await rowsOf(this.theirs, text).catch(code)];
  }
}

/** Each row as a line. */
export async function rowsOf(
  client: pg.Client,
  text: string,
  values: readonly string[] = [],
): Promise<string[]> {
  const types = { getTypeParser: () => (value: string) => value };
  const config = { text, values, rowMode: 'array', types } as unknown as pg.QueryArrayConfig;
  const { rows } = await client.query<(string | null)[]>(config);
  return rows.map((row) => row.join(' | '));
}
