import pg from 'pg';
import { openTestStore, type TestStore } from '../../support/clickhouse/test-store.ts';
import { pgPassword, startPgServer, type TestPgServer } from '../../support/sql/pg-server.ts';
import { catalogOf, fixtures, loadEvents, postgresStatements } from '../fixtures.ts';
import { Postgres } from '../postgres.ts';
import { queryService } from '../querier.ts';
import { shrinkStatement } from './shrink-statement.ts';
import { type Verdict, verdictOf, type WireAnswer } from './verdict.ts';

/** A statement with a difference, and the smallest one that was found in it. */
export interface Difference {
  readonly statement: string;
  readonly shrunk: string;
  readonly reason: string;
}

/** Longer than any statement of the generators takes; PostgreSQL ends some joins of functions only then. */
const postgresTimeoutMs = 10_000;

interface Connection {
  readonly own: pg.Client;
  readonly other: pg.Client;
}

/**
 * Millrace and PostgreSQL with the same fixtures, asked the same statements over the same protocol.
 * PostgreSQL must be installed (`postgresBinaries`).
 */
export class ServerPair {
  readonly #postgres: Postgres;
  readonly #store: TestStore;
  readonly #server: TestPgServer;
  readonly #connections: readonly Connection[];

  private constructor(
    postgres: Postgres,
    store: TestStore,
    server: TestPgServer,
    connections: readonly Connection[],
  ) {
    this.#postgres = postgres;
    this.#store = store;
    this.#server = server;
    this.#connections = connections;
  }

  static async start(bin: string, concurrency: number): Promise<ServerPair> {
    const [postgres, store] = await Promise.all([Postgres.start(bin), openTestStore()]);
    for (const fixture of fixtures) {
      await postgres.execute(postgresStatements(fixture));
      await loadEvents(store.store, fixture);
    }
    const server = await startPgServer(queryService(store.store, catalogOf(fixtures)));
    const connect = async (): Promise<Connection> => {
      const own = new pg.Client({
        host: '127.0.0.1',
        port: server.port,
        user: 'admin',
        password: pgPassword,
        database: 'millrace',
      });
      const other = new pg.Client({
        host: postgres.directory,
        user: 'test',
        database: 'postgres',
        statement_timeout: postgresTimeoutMs,
      });
      await Promise.all([own.connect(), other.connect()]);
      return { own, other };
    };
    const connections = await Promise.all(Array.from({ length: concurrency }, connect));
    return new ServerPair(postgres, store, server, connections);
  }

  /** Asks all statements and calls back for each, in any order. */
  async compare(
    statements: Iterable<string>,
    onVerdict: (statement: string, verdict: Verdict) => void,
  ): Promise<void> {
    const iterator = statements[Symbol.iterator]();
    await Promise.all(
      this.#connections.map(async (connection) => {
        for (let next = iterator.next(); next.done !== true; next = iterator.next()) {
          onVerdict(next.value, await compared(connection, next.value));
        }
      }),
    );
  }

  /** The smallest statement that could be found in one with a difference, with its own reason. */
  async shrink(statement: string): Promise<Difference> {
    const [connection] = this.#connections;
    if (connection === undefined) throw new Error('no connection');
    const first = await compared(connection, statement);
    if (first.kind !== 'different') return { statement, shrunk: statement, reason: 'not different again' };
    let reason = first.reason;
    const shrunk = await shrinkStatement(statement, async (smaller) => {
      const verdict = await compared(connection, smaller);
      if (verdict.kind !== 'different' || sortOf(verdict.reason) !== sortOf(first.reason)) return false;
      reason = verdict.reason;
      return true;
    });
    return { statement, shrunk, reason };
  }

  async stop(): Promise<void> {
    await Promise.all(this.#connections.flatMap(({ own, other }) => [own.end(), other.end()]));
    await this.#server.stop();
    await this.#store.close();
    await this.#postgres.stop();
  }
}

/** The kind of a difference, which a smaller statement must keep: values, or an error of either. */
const sortOf = (reason: string): string =>
  reason
    .replace(/row \d+ is [\s\S]*$|^\d+ rows[\s\S]*$/, 'rows')
    .replace(/^column [\s\S]*$/, 'names')
    .replace(/^.* is of type (\d+), PostgreSQL has (\d+)$/, 'type $1 $2')
    .replace(/^\[[\s\S]*PostgreSQL says (\w{5})[\s\S]*$/, 'error of PostgreSQL $1')
    .replace(/^(\w{5}) [\s\S]*PostgreSQL (says|has)[\s\S]*$/, '$1 $2');

async function compared({ own, other }: Connection, statement: string): Promise<Verdict> {
  const [ours, theirs] = await Promise.all([ask(own, statement), ask(other, statement)]);
  return verdictOf(statement, ours, theirs);
}

async function ask(client: pg.Client, text: string): Promise<WireAnswer> {
  const types = { getTypeParser: () => (value: string) => value };
  // The declared types leave it out that values come as text.
  const config = { text, rowMode: 'array', types } as unknown as pg.QueryArrayConfig;
  try {
    const { fields, rows } = await client.query<(string | null)[]>(config);
    return { columns: fields.map(({ name, dataTypeID }) => ({ name, oid: dataTypeID })), rows };
  } catch (thrown) {
    if (thrown instanceof pg.DatabaseError) return { sqlState: thrown.code ?? '', message: thrown.message };
    throw thrown;
  }
}
