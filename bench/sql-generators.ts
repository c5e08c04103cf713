import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { readCases } from '../test/sql/cases.ts';
import { ServerPair } from '../test/sql/generators/server-pair.ts';
import { type StatementClass, statementClasses } from '../test/sql/generators/statement-classes.ts';
import {
  type Counts,
  compareStatements,
  noCounts,
  statementsOf,
} from '../test/sql/generators/torture-run.ts';
import { postgresBinaries } from '../test/sql/postgres.ts';
import { packageRoot } from '../test/support/lib/package-root.ts';
import { markdownTable } from './markdown-table.ts';

/** Statements of one class in one round: a round repeats with its seed. */
const statementsPerRound = 100;
/** Differences of one kind that are made small and shown; the others are counted. */
const maxShrunkOfKind = 5;
/** Both servers do most of their work for one statement in one thread. */
const concurrency = 3;

export interface GeneratorOptions {
  readonly minutes: number;
  /** Of the first round; each next round has the next one. */
  readonly seed: number;
  /** Only these classes; none: all of them, and the files of `test/sql`. */
  readonly only: readonly string[];
}

/**
 * Random statements of each class, and those of `test/sql`, to Millrace and to PostgreSQL. Prints each
 * difference with its seed, and a table of counts.
 * @returns whether there was no difference
 */
export async function sameAsPostgres({ minutes, seed, only }: GeneratorOptions): Promise<boolean> {
  const classes = Object.keys(statementClasses).filter(
    (name): name is StatementClass => only.length === 0 || only.includes(name),
  );
  if (classes.length === 0) throw new Error(`--only: use ${Object.keys(statementClasses).join(', ')}`);
  const bin = postgresBinaries();
  if (bin === undefined) throw new Error('PostgreSQL is not installed: apt-get install postgresql');
  const pair = await ServerPair.start(bin, concurrency);
  const totals = new Map<string, Counts>();
  const seen = new Set<string>();
  const shrunkOf = new Map<string, number>();
  const run = async (name: string, statements: readonly string[], from: string): Promise<void> => {
    const isKnown = (reason: string): boolean => {
      const kind = `${name} ${reason.replaceAll(/[[{][\s\S]*|"[^"]*"|\d+/g, '?').slice(0, 60)}`;
      const count = shrunkOf.get(kind) ?? 0;
      shrunkOf.set(kind, count + 1);
      return count >= maxShrunkOfKind;
    };
    const { counts, differences } = await compareStatements(pair, statements, isKnown);
    const total = totals.get(name) ?? noCounts();
    for (const kind of Object.keys(counts) as (keyof Counts)[]) total[kind] += counts[kind];
    totals.set(name, total);
    for (const { statement, shrunk, reason } of differences) {
      const pattern = shrunk.replaceAll(/'(?:[^']|'')*'|\d+/g, '?');
      if (seen.has(pattern)) continue;
      seen.add(pattern);
      console.log(`${name}, ${from}\n  ${statement}\n  ${shrunk}\n  ${reason.slice(0, 400)}`);
    }
  };
  const ends = Date.now() + minutes * 60_000;
  let round = seed;
  try {
    if (only.length === 0) await run('test/sql', filedStatements(), 'files');
    for (; Date.now() < ends; round += 1) {
      for (const name of classes) {
        await run(name, statementsOf(name, round, statementsPerRound), `seed ${round}`);
      }
    }
  } finally {
    await pair.stop();
  }
  const rows = [...totals].map(([name, counts]) => {
    const { same, errors, refused, late, different } = counts;
    const all = same + errors + refused + late + different;
    return [name, all, same, errors, refused, late, different].map(String);
  });
  console.log(
    `\nseeds ${seed} to ${round - 1}, ${statementsPerRound} statements of each class for each seed\n`,
  );
  console.log(
    markdownTable(['class', 'statements', 'same', 'error in both', 'refused', 'too slow', 'different'], rows),
  );
  return [...totals.values()].every(({ different }) => different === 0);
}

/** All of `test/sql` that can be asked without tables of their own. */
function filedStatements(): readonly string[] {
  const root = join(packageRoot(), 'test/sql');
  const files = [
    ...readdirSync(join(root, 'same')).map((file) => `same/${file}`),
    'errors.sql',
    'refused.sql',
    'out-of-range.sql',
  ];
  return files.flatMap((file) => readCases(pathToFileURL(join(root, file)).href)).map(({ query }) => query);
}
