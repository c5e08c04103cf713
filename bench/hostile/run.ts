import { setTimeout as sleep } from 'node:timers/promises';
import type { Child } from '../../test/support/lib/child.ts';
import { answers, type Service, sumOfMetric } from '../../test/support/service/service.ts';
import { markdownTable } from '../markdown-table.ts';
import { processTree } from '../proc.ts';
import type { Answer } from './answer.ts';
import type { Attack } from './attack.ts';
import { type AttackSetup, openAttackSetup } from './attack-setup.ts';
import type { Attacker } from './attacker.ts';
import { attacks } from './attacks.ts';
import { bounds, brokenBounds, type Measured, seconds } from './judge.ts';
import { forgetPeaks, treeCpuSeconds, treePeakBytes, treeResidentBytes } from './process-tree.ts';
import { shownAnswers } from './shown-answers.ts';
import { VictimProbe } from './victim.ts';
import { probes } from './victim-thread.ts';

export interface HostileOptions {
  /** Parts of names or whole subjects; all attacks if there are none. */
  readonly only: readonly string[];
}

const queryTimeoutMs = 5000;
const events = 100_000;
/**
 * An attack of many requests starts none of them later than this. It is ended when all of them must have been
 * answered.
 */
const sendingMs = 8000;
const attackMs = sendingMs + bounds.replyMs + 2000;
/** A service that does not answer, or is still busy, this long afterwards is killed and restarted. */
const recoveryMs = 5000;
const settleMs = 5000;
const windowMs = 500;
/** What an attack left to be done, such as tables to create, and a start may take this long. */
const restMs = 30_000;
/** How much memory an attack may leave behind for the next one. */
const largestLeftBytes = 0.9e9;

/** The attacks with their subjects and targets, one per line. */
export function listAttacks(options: HostileOptions): string {
  return chosen(options)
    .map(({ subject, attack: { name, aim } }) => `${subject.padEnd(15)} ${name.padEnd(26)} ${aim}`)
    .join('\n');
}

/**
 * Sends each attack to a service of its own making, while a victim uses the same service, and
 * prints what came of it.
 * @returns whether every bound held
 */
export async function heldUnderAttack(options: HostileOptions): Promise<boolean> {
  const list = chosen(options);
  if (list.length === 0) throw new Error(`--only ${options.only.join(' ')}: there is no such attack`);
  const setup = await openAttackSetup({ queryTimeoutMs, events });
  const rows: string[][] = [];
  const broken: string[] = [];
  try {
    const victim = new VictimProbe(setup.victim);
    await settled(setup);
    let engineRestarts = 0;
    for (const { attack } of list) {
      const measured = await measure(setup, victim, attack);
      engineRestarts += measured.engineRestarts;
      const problems = brokenBounds(attack, measured);
      const row = cells(attack, measured, problems.length > 0);
      rows.push(row);
      console.log(row.join(' | '));
      for (const problem of problems) console.log(`    BROKEN: ${problem}`);
      if (problems.length > 0) broken.push(`${attack.name}: ${problems.join('; ')}`);
    }
    await victim.end();
    console.log(`\n${markdownTable(header, rows)}\n`);
    console.log(`The engine was started again ${engineRestarts} times.`);
  } finally {
    await setup.service.dispose();
  }
  console.log(`${list.length - broken.length} of ${list.length} attacks broke no bound.`);
  for (const each of broken) console.log(`- ${each}`);
  return broken.length === 0;
}

function chosen({ only }: HostileOptions): { subject: string; attack: Attack }[] {
  return Object.entries(attacks).flatMap(([subject, some]) =>
    some
      .filter(({ name }) => only.length === 0 || only.some((part) => part === subject || name.includes(part)))
      .map((attack) => ({ subject, attack })),
  );
}

const header = [
  'attack',
  'replies',
  'reply s',
  'liveness ms',
  'query ms',
  'ingest ms',
  'SQL client ms',
  'CPU s after',
  'peak RSS MB',
  'bounds',
];

function cells({ name }: Attack, measured: Measured, isBroken: boolean): string[] {
  const { answers, replyMs, worstMs, cpuSecondsAfter, peakBytes } = measured;
  return [
    name,
    shownAnswers(answers),
    seconds(replyMs),
    ...probes.map((probe) => worstMs[probe]).map((ms) => String(Math.round(ms))),
    cpuSecondsAfter.toFixed(1),
    (peakBytes / 1e6).toFixed(0),
    isBroken ? 'BROKEN' : 'held',
  ];
}

interface MeasuredHere extends Measured {
  readonly engineRestarts: number;
}

async function measure(setup: AttackSetup, victim: VictimProbe, attack: Attack): Promise<MeasuredHere> {
  const { child } = setup.service;
  const { pid } = child;
  const children = processTree(pid).slice(1);
  const attacker = await setup.attacker();
  forgetPeaks(pid);
  await victim.report();
  const answers = await answersOf(attack, attacker);
  const after = await cpuAfter(child);
  attacker.end();
  const recovered = await recovers(setup);
  const { liveness, query, ingest, sqlClient } = await victim.report();
  const measured = {
    answers,
    replyMs: answers.reduce((worst, { tookMs = 0 }) => Math.max(worst, tookMs), 0),
    worstMs: {
      liveness: liveness.worstMs,
      query: query.worstMs,
      ingest: ingest.worstMs,
      sqlClient: sqlClient.worstMs,
    },
    failures: [...liveness.failures, ...query.failures, ...ingest.failures, ...sqlClient.failures],
    ...after,
    peakBytes: treePeakBytes(pid),
    ended: child.exit === undefined ? (recovered ? undefined : 'answers no more') : shownExit(child),
    engineRestarts: child.exit === undefined ? restartsAmong(children, processTree(pid).slice(1)) : 0,
  };
  if (!recovered) await startAgain(setup.service);
  await settled(setup);
  return measured;
}

const shownExit = ({ exit }: Child): string => `ended with ${exit?.signal ?? exit?.code}`;

/** Children that have ended, each of which has a successor. */
const restartsAmong = (before: readonly number[], after: readonly number[]): number =>
  before.filter((pid) => !after.includes(pid)).length;

async function answersOf(attack: Attack, attacker: Attacker): Promise<readonly Answer[]> {
  const timers = [setTimeout(() => attacker.stop(), sendingMs), setTimeout(() => attacker.end(), attackMs)];
  try {
    return await attack.run(attacker, 'full');
  } finally {
    for (const timer of timers) clearTimeout(timer);
  }
}

/** Waits until no core is busy for two windows, or five seconds. */
async function cpuAfter(child: Child): Promise<Pick<Measured, 'cpuSecondsAfter' | 'busyCores'>> {
  const { pid } = child;
  const first = treeCpuSeconds(pid);
  let last = first;
  let busyCores = 0;
  let quietWindows = 0;
  // One window more than the time to settle: a core that is busy in that window is busy after it.
  for (let waitedMs = 0; waitedMs <= settleMs + windowMs; waitedMs += windowMs) {
    await sleep(windowMs);
    const now = treeCpuSeconds(pid);
    busyCores = ((now - last) / windowMs) * 1000;
    last = now;
    quietWindows = busyCores < bounds.busyCores ? quietWindows + 1 : 0;
    if (child.exit !== undefined || quietWindows === 2) break;
  }
  return { cpuSecondsAfter: Math.max(0, last - first), busyCores };
}

async function recovers({ service }: AttackSetup): Promise<boolean> {
  for (const deadline = performance.now() + recoveryMs; performance.now() < deadline; ) {
    if (service.child.exit !== undefined) return false;
    if (await answers(`${service.url}/api/v1/liveness`, 2000)) return true;
    await sleep(100);
  }
  return false;
}

/** With the same data, as a supervisor would. */
async function startAgain(service: Service): Promise<void> {
  if (service.child.exit === undefined) await service.kill();
  await service.restart(60_000);
}

/**
 * Waits until the last attack causes no more work, such as inserts and queries that still run. If it left
 * memory in use, the next attack gets a restarted service, which is at rest itself: a start compiles, opens
 * tables and merges their parts.
 */
async function settled(setup: AttackSetup): Promise<void> {
  if (await becomesQuiet(setup)) return;
  console.log('    started again: what the attack left is work or memory for the next one');
  await startAgain(setup.service);
  if (!(await becomesQuiet(setup))) console.log('    not at rest: what is measured next may be of the start');
}

/** @returns whether there were two windows without work within `restMs`, and then little memory in use */
async function becomesQuiet({ service }: AttackSetup): Promise<boolean> {
  const { pid } = service.child;
  let quietWindows = 0;
  for (const deadline = performance.now() + restMs; performance.now() < deadline; ) {
    const before = treeCpuSeconds(pid);
    await sleep(windowMs);
    const isQuiet = ((treeCpuSeconds(pid) - before) / windowMs) * 1000 < bounds.busyCores;
    const isDrained = sumOfMetric(await service.metrics(), 'millrace_wal_segments') < 5;
    quietWindows = isQuiet && isDrained ? quietWindows + 1 : 0;
    if (quietWindows === 2) return treeResidentBytes(pid) < largestLeftBytes;
  }
  return false;
}
