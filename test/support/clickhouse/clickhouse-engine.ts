import { randomUUID } from 'node:crypto';
import { mkdtempSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createChdbConnection } from 'chdb/connection';

/** A statement in a request to ClickHouse's HTTP interface. */
export interface HttpStatement {
  /** The whole text; an INSERT is followed by its data. */
  readonly text: Buffer;
  readonly database: string | undefined;
  /** For statements without a FORMAT of their own. */
  readonly defaultFormat: string;
  readonly settings: ReadonlyMap<string, string>;
  /** Values of `{name:Type}` placeholders. */
  readonly parameters: ReadonlyMap<string, string>;
}

export interface EngineOutput {
  readonly bytes: Uint8Array;
  readonly readRows: number;
  readonly elapsedMs: number;
}

type Connection = ReturnType<typeof createChdbConnection>;

/** Runs HTTP statements on the real engine, each on a connection of its own. */
export class HttpEngine {
  readonly #path: string;
  readonly #temporary = mkdtempSync(join(tmpdir(), 'millrace-http-insert-'));
  /** Keeps the engine open. */
  readonly #kept: Connection;

  constructor(path: string) {
    this.#path = path;
    this.#kept = createChdbConnection({ path });
  }

  async run(statement: HttpStatement): Promise<EngineOutput> {
    const insert = splitInsert(statement.text);
    if (insert === undefined) return await this.#run(statement, statement.text.toString('utf8'));
    // The engine takes binary data from files only. INFILE is read like the data of a request.
    const path = join(this.#temporary, randomUUID());
    await writeFile(path, insert.data);
    try {
      return await this.#run(statement, `${insert.target} FROM INFILE ${quote(path)} ${insert.rest}`);
    } finally {
      await rm(path);
    }
  }

  /** Yields the output of a SELECT block by block, so that an error can follow some output. */
  async *stream(statement: HttpStatement): AsyncGenerator<Uint8Array> {
    const connection = await this.#connect(statement);
    try {
      const format = statement.defaultFormat;
      const blocks = connection.chdb.queryStream(statement.text.toString('utf8'), { format });
      for await (const block of blocks) yield block.raw();
    } finally {
      await connection.close();
    }
  }

  async close(): Promise<void> {
    await this.#kept.close();
    await rm(this.#temporary, { recursive: true, force: true });
  }

  async #run(statement: HttpStatement, text: string): Promise<EngineOutput> {
    const connection = await this.#connect(statement);
    try {
      const result = await connection.chdb.queryAsync(text, { format: statement.defaultFormat });
      return { bytes: result.bytes(), readRows: result.rowsRead, elapsedMs: result.elapsed * 1000 };
    } finally {
      await connection.close();
    }
  }

  /** A connection is a session: its settings and parameters end with it. */
  async #connect({ settings, parameters, database }: HttpStatement): Promise<Connection> {
    const connection = createChdbConnection({ path: this.#path });
    try {
      for (const [name, value] of settings) await connection.chdb.queryAsync(`SET ${name} = ${quote(value)}`);
      for (const [name, value] of parameters) {
        await connection.chdb.queryAsync(`SET param_${name} = ${quote(value)}`);
      }
      if (database !== undefined) await connection.chdb.queryAsync(`USE \`${database}\``);
      return connection;
    } catch (error) {
      await connection.close();
      throw error;
    }
  }
}

interface InsertParts {
  /** INSERT INTO table (columns) */
  readonly target: string;
  /** [SETTINGS …] FORMAT name */
  readonly rest: string;
  readonly data: Buffer;
}

/** More than the head of any statement has. */
const maxHeadBytes = 16 * 1024 * 1024;
const quoted = /`(?:[^`\\]|\\.)*`|'(?:[^'\\]|\\.)*'/.source;
const insertHead = new RegExp(
  `^\\s*(?<target>INSERT INTO (?:${quoted}|[^'\`])*?)\\s+(?<rest>(?:SETTINGS (?:${quoted}|[^'\`])*?)?FORMAT \\w+)[ \\t]*\\r?\\n`,
  'is',
);

/** Splits an INSERT with data behind it; undefined for any other statement. */
function splitInsert(text: Buffer): InsertParts | undefined {
  // As Latin-1 each byte is one character, so the length of the match counts bytes.
  const match = insertHead.exec(text.toString('latin1', 0, maxHeadBytes));
  if (match?.groups === undefined) return undefined;
  const { target = '', rest = '' } = match.groups;
  const utf8 = (latin1: string) => Buffer.from(latin1, 'latin1').toString('utf8');
  return { target: utf8(target), rest: utf8(rest), data: text.subarray(match[0].length) };
}

const quote = (text: string): string => `'${text.replace(/[\\']/g, (character) => `\\${character}`)}'`;
