import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createChdbConnection } from 'chdb/connection';

/** A row as ClickHouse prints it in JSON: 64-bit integers and NaN as strings. */
export type Row = Record<string, unknown>;

/** The real engine, in memory, as the reader of Native blocks. One for each test file. */
export class NativeFiles {
  readonly #directory = mkdtempSync(join(tmpdir(), 'millrace-native-'));
  readonly #connection = createChdbConnection({ path: ':memory:' });

  readonly #path = join(this.#directory, 'blocks.native');

  /**
   * Selects from a file of Native blocks.
   * @param select what stands before FROM
   */
  async read(blocks: readonly Uint8Array[], select = '*'): Promise<Row[]> {
    writeFileSync(this.#path, Buffer.concat(blocks));
    return this.query(`SELECT ${select} FROM file('${this.#path}', 'Native')`);
  }

  /** Inserts columns of the blocks that were read last. */
  async insert(table: string, columns: string): Promise<void> {
    await this.command(`INSERT INTO ${table} SELECT ${columns} FROM file('${this.#path}', 'Native')`);
  }

  /** In one thread: with more, rows of one block can come before those of the block in front of it. */
  async query(statement: string): Promise<Row[]> {
    const result = await this.#connection.chdb.queryAsync(
      `${statement} SETTINGS max_threads = 1, output_format_json_quote_64bit_integers = 1, output_format_json_quote_denormals = 1`,
      { format: 'JSON' },
    );
    return result.json<{ data: Row[] }>().data;
  }

  /** What a SELECT gives, as the block that the engine itself writes. */
  async nativeBlock(statement: string): Promise<Uint8Array> {
    return (await this.#connection.chdb.queryAsync(statement, { format: 'Native' })).bytes();
  }

  async command(statement: string): Promise<void> {
    await this.#connection.chdb.queryAsync(statement);
  }

  async close(): Promise<void> {
    await this.#connection.close();
    rmSync(this.#directory, { recursive: true, force: true });
  }
}
