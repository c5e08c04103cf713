import { parseArgs } from 'node:util';
import { mistakesAreFound } from './find-mistakes.ts';
import { heldUnderAttack, listAttacks } from './hostile/run.ts';
import { keptThroughKills } from './kills.ts';
import { keptInSimulation } from './simulations.ts';
import { sameAsPostgres } from './sql-generators.ts';

/**
 * `npm run torture [-- --rounds n --store-rounds n --seed n]` kills the service in the middle of ingest,
 * then the ClickHouse server behind a service, over and over; 0 rounds leave one out.
 * `npm run torture -- --sim n [--seed n] [--trace]` simulates its durable path n times under seeded
 * faults. `npm run torture -- --mistakes n [--seed n]` puts known mistakes into that path and simulates
 * each up to n times. `npm run torture -- --hostile [--only name]...
 * [--list]` sends it requests that are made to stop it for others.
 * `npm run torture -- --sql-generators <minutes> [--only class]... [--seed n]` asks it and PostgreSQL random
 * statements.
 */
const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '25' },
    'store-rounds': { type: 'string', default: '25' },
    sim: { type: 'string' },
    mistakes: { type: 'string' },
    hostile: { type: 'boolean', default: false },
    'sql-generators': { type: 'string' },
    only: { type: 'string', multiple: true, default: [] },
    list: { type: 'boolean', default: false },
    seed: { type: 'string', default: String(Date.now() >>> 0) },
    trace: { type: 'boolean', default: false },
  },
});
const seed = Number(values.seed);
if (!Number.isInteger(seed)) throw new Error(`--seed ${values.seed}: use an integer`);
const kept = await chosen();
if (!kept) process.exitCode = 1;

async function chosen(): Promise<boolean> {
  const { sim, mistakes, trace, hostile, only, list } = values;
  if (hostile && list) {
    console.log(listAttacks({ only }));
    return true;
  }
  if (hostile) return heldUnderAttack({ only });
  const minutes = values['sql-generators'];
  if (minutes !== undefined) return sameAsPostgres({ minutes: Number(minutes), seed, only });
  if (mistakes !== undefined) return mistakesAreFound(count('--mistakes', mistakes, 1), seed);
  if (sim !== undefined) return keptInSimulation(count('--sim', sim, 1), seed, trace);
  return keptThroughKills({
    rounds: count('--rounds', values.rounds, 0),
    storeRounds: count('--store-rounds', values['store-rounds'], 0),
    seed,
  });
}

function count(option: string, text: string, min: number): number {
  const number = Number(text);
  if (!Number.isInteger(number) || number < min) {
    throw new Error(`${option} ${text}: use a whole number, ${min} or more`);
  }
  return number;
}
