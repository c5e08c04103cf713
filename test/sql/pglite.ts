import { PGlite } from '@electric-sql/pglite';
import { type Oracle, type PostgresAnswer, parseCopy } from './oracle.ts';

/** PostgreSQL compiled to WebAssembly, for machines without the server. */
export class EmbeddedPostgres implements Oracle {
  readonly name = 'PGlite';
  readonly #database: PGlite;

  private constructor(database: PGlite) {
    this.#database = database;
  }

  static async start(): Promise<EmbeddedPostgres> {
    const database = await PGlite.create();
    await database.exec("SET timezone = 'UTC'");
    return new EmbeddedPostgres(database);
  }

  async execute(sql: string): Promise<void> {
    await this.#database.exec(sql);
  }

  async answers(queries: readonly string[]): Promise<readonly PostgresAnswer[]> {
    const answers: PostgresAnswer[] = [];
    for (const query of queries) answers.push(await this.#answer(query));
    return answers;
  }

  async #answer(query: string): Promise<PostgresAnswer> {
    try {
      const { blob } = await this.#database.query(`COPY (\n${query}\n) TO '/dev/blob' (FORMAT text, HEADER)`);
      return parseCopy((await blob?.text()) ?? '');
    } catch (thrown) {
      if (thrown instanceof Error && 'code' in thrown && typeof thrown.code === 'string') {
        // What it had written before the error is kept for the next answer otherwise.
        await this.#database.query("COPY (SELECT) TO '/dev/blob'");
        return { sqlState: thrown.code };
      }
      throw thrown;
    }
  }

  async stop(): Promise<void> {
    await this.#database.close();
  }
}
