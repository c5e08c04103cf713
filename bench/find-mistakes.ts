import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { type Mistake, mistakes } from '../test/sim/mistakes.ts';
import { markdownTable } from './markdown-table.ts';

const project = fileURLToPath(new URL('../..', import.meta.url));

/**
 * Checks the simulation: makes known mistakes in the durable path, one at a time, each in a copy of the
 * project, and simulates until one is found.
 * @returns whether each mistake was found within so many runs
 */
export async function mistakesAreFound(maxRuns: number, seed: number): Promise<boolean> {
  const rows: string[][] = [];
  for (const mistake of mistakes) {
    const runs = await runsUntilFound(mistake, maxRuns, seed);
    console.log(
      `${mistake.what}: ${runs === undefined ? `NOT found in ${maxRuns} runs` : `found in run ${runs}`}`,
    );
    rows.push([mistake.what, runs === undefined ? 'not found' : String(runs)]);
  }
  console.log(`\n${markdownTable(['mistake', `found in run, of ${maxRuns} from seed ${seed}`], rows)}`);
  return rows.every(([, found]) => found !== 'not found');
}

async function runsUntilFound(mistake: Mistake, maxRuns: number, seed: number): Promise<number | undefined> {
  const copy = await mkdtemp(join(tmpdir(), 'millrace-mistake-'));
  try {
    await build(copy, mistake);
    const child = spawn(
      process.execPath,
      ['dist/bench/torture.js', '--sim', `${maxRuns}`, '--seed', `${seed}`],
      {
        cwd: copy,
        stdio: ['ignore', 'pipe', 'ignore'],
      },
    );
    const ended = once(child, 'close');
    for await (const line of createInterface(child.stdout)) {
      const failed = /^seed (\d+) failed/.exec(line)?.[1];
      if (failed === undefined) continue;
      child.kill();
      await ended;
      return Number(failed) - seed + 1;
    }
    const [code] = await ended;
    if (code !== 0) throw new Error(`${mistake.what}: the simulation ended with ${code} and named no seed`);
    return undefined;
  } finally {
    await rm(copy, { recursive: true });
  }
}

/** Builds a copy of the project with the mistake in it. */
async function build(copy: string, { what, file, from, to }: Mistake): Promise<void> {
  for (const name of ['src', 'workers', 'bench', 'test', 'schema', 'package.json', 'tsconfig.json', 'dist']) {
    await cp(join(project, name), join(copy, name), { recursive: true });
  }
  await symlink(join(project, 'node_modules'), join(copy, 'node_modules'));
  const path = join(copy, 'src', file);
  const source = await readFile(path, 'utf8');
  if (source.split(from).length !== 2) throw new Error(`${what}: this must be in ${file} once: ${from}`);
  await writeFile(
    path,
    source.replace(from, () => to),
  );
  // Code that is no longer used must not stop the build here.
  const options = ['--noUnusedLocals', 'false', '--noUnusedParameters', 'false'];
  const tsc = spawn(process.execPath, ['node_modules/typescript/bin/tsc', ...options], {
    cwd: copy,
    stdio: 'inherit',
  });
  const [code] = await once(tsc, 'close');
  if (code !== 0) throw new Error(`${what}: the project does not compile with it`);
}
