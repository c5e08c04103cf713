/**
 * Repairs deduplication tokens without rows, which a crash can leave in the embedded engine.
 *
 * For each part of an insert ClickHouse first writes the token (`deduplication_logs/` of the table) and names
 * the part a tenth of a millisecond later. A process that is killed in between leaves a token without a part.
 * The engine would then treat the repeated insert as stored and drop it, and its rows would be lost. So these
 * tokens are revoked before the engine opens, in the engine's own format.
 *
 * A line is `<1: added, 2: dropped> <part> <hash of the token>`, separated by tabs. Inserts into a
 * table follow each other, so only the last lines can be affected. A token whose part was removed for
 * another reason (retention) is revoked too, which does no harm: a repeated insert would only bring
 * rows that have expired.
 */
import { appendFile, open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from '../../lib/log.ts';
import { Semaphore } from '../../lib/semaphore.ts';
import { limits } from '../../limits/limits.ts';

/** The last 60 lines or so; one is looked for. */
const tailBytes = 4096;

/**
 * Revokes the tokens of parts that do not exist. Nobody else may use the directory meanwhile.
 * @param engine the directory of the engine
 */
export async function repairTokens(engine: string, log: Logger): Promise<void> {
  const store = join(engine, 'store');
  const semaphore = new Semaphore(limits.maxParallelRepairs);
  const repairGroup = async (group: string) => {
    for (const table of await entriesOf(join(store, group)))
      await repairTable(join(store, group, table), log);
  };
  await Promise.all((await entriesOf(store)).map((group) => semaphore.run(() => repairGroup(group))));
}

async function repairTable(table: string, log: Logger): Promise<void> {
  const folder = join(table, 'deduplication_logs');
  const logs = (await entriesOf(folder)).filter((name) => logName.test(name));
  logs.sort((a, b) => numberOf(a) - numberOf(b));
  const newest = logs.at(-1);
  if (newest === undefined) return;
  // The engine starts a new file when the last one is full, so the newest may be empty.
  const lines: string[] = [];
  for (const name of logs.slice(-2)) lines.push(...(await lastLines(join(folder, name))));
  const added = new Map<string, string>();
  for (const line of lines) {
    const [operation, part = '', hash = ''] = line.split('\t');
    if (operation === '1') added.set(hash, part);
    else added.delete(hash);
  }
  if (added.size === 0) return;
  const parts = (await entriesOf(table)).flatMap(readPartName);
  for (const [hash, name] of added) {
    const [part] = readPartName(name);
    if (part === undefined || parts.some((other) => covers(other, part))) continue;
    await appendFile(join(folder, newest), `2\t${name}\t${hash}\n`);
    log.warn({ table, part: name }, 'revoked an insert token that a crash left without its rows');
  }
}

const logName = /^deduplication_log_(\d+)\.txt$/;
const numberOf = (name: string): number => Number(logName.exec(name)?.[1]);

/**
 * The complete lines at the end of a file; none if the last line is incomplete, since nothing
 * can be appended to it.
 */
async function lastLines(path: string): Promise<string[]> {
  const file = await open(path);
  try {
    const { size } = await file.stat();
    const start = Math.max(0, size - tailBytes);
    const { buffer, bytesRead } = await file.read(Buffer.alloc(size - start), 0, size - start, start);
    const text = buffer.toString('latin1', 0, bytesRead);
    if (!text.endsWith('\n')) return [];
    const lines = text.slice(0, -1).split('\n');
    return start === 0 ? lines : lines.slice(1);
  } finally {
    await file.close();
  }
}

interface PartName {
  readonly partition: string;
  readonly from: number;
  readonly to: number;
}

/**
 * `<partition>_<first block>_<last block>_<level>`, sometimes followed by `_<mutation>`; other
 * names are not parts.
 */
function readPartName(name: string): PartName[] {
  const match = /^([^_]+)_(\d+)_(\d+)_\d+(?:_\d+)?$/.exec(name);
  return match === null ? [] : [{ partition: match[1] ?? '', from: Number(match[2]), to: Number(match[3]) }];
}

/** Whether a part contains another one: it is the same, or was merged from it. */
const covers = (part: PartName, other: PartName): boolean =>
  part.partition === other.partition && part.from <= other.from && other.to <= part.to;

/** The names in a directory; none if it does not exist or is a file. */
async function entriesOf(directory: string): Promise<string[]> {
  try {
    return await readdir(directory);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code === 'ENOENT' || code === 'ENOTDIR') return [];
    throw error;
  }
}
