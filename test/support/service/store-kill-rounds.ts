import { setTimeout as sleep } from 'node:timers/promises';
import { ClickHouseServer } from '../clickhouse/clickhouse-server.ts';
import { seededRandom } from '../lib/random.ts';
import { readStored } from './numbered-batches.ts';
import { type Comparison, compareBatches } from './sent-and-stored.ts';
import { Service } from './service.ts';
import { senderPauseMs, startSenders } from './steady-senders.ts';

/**
 * A ClickHouse server that is killed and started again under load, over and over, while the service in front
 * of it runs on and acknowledges every request. In a round the server first runs for a while; then an insert
 * hangs, either before it is run or between its commit and its answer, and the SIGKILL comes; then the server
 * is away for a while.
 */
export interface StoreKillOptions {
  readonly rounds: number;
  readonly seed: number;
  readonly onRound?: (report: StoreKill) => void;
}

export interface StoreKill {
  readonly round: number;
  /** From the server's readiness to the moment from which inserts hang. */
  readonly killedAfterMs: number;
  /** Where the insert hung at the kill: before it was run, or between its commit and its answer. */
  readonly when: 'before' | 'after';
  /** From the kill to the start of the server. */
  readonly awayMs: number;
  /** Rows that the service acknowledged so far. */
  readonly acknowledgedRows: number;
  /** Segments of the log that wait for the server. */
  readonly waitingSegments: number;
}

export interface StoreKillReport extends Comparison {
  readonly acknowledgedRows: number;
  /** Inserts that failed and were tried again. */
  readonly failedInserts: number;
}

/** Acknowledged before its kill, on average: a round with next to none would try little. */
const minRowsPerRound = 650;
/** Everything that arrived while the server was down is inserted now, on a machine that may be busy. */
const drainTimeoutMs = 300_000;
/** More than the service sends at the same time. */
const hangingInserts = 100;

/** @throws UnexpectedReply when the service refused a request: it must not need the server for that */
export async function runStoreKillRounds(options: StoreKillOptions): Promise<StoreKillReport> {
  const random = seededRandom(options.seed);
  const server = await ClickHouseServer.start();
  try {
    const service = await Service.start({ env: { MILLRACE_CLICKHOUSE_URL: server.url } });
    try {
      const senders = startSenders(service, random);
      for (let round = 1; round <= options.rounds; round++) {
        const killedAfterMs = random.integer(300, 2500);
        const awayMs = random.integer(0, 2000);
        const when = random.chance(0.5) ? 'before' : 'after';
        await sleep(killedAfterMs);
        const wantedRows = round * minRowsPerRound;
        while (senders.acknowledgedRows < wantedRows && !senders.failed) await sleep(senderPauseMs);
        await insertUnderWay(server, when);
        await sleep(random.integer(0, 1000));
        await server.kill();
        await sleep(awayMs);
        await server.start();
        options.onRound?.({
          round,
          killedAfterMs,
          when,
          awayMs,
          acknowledgedRows: senders.acknowledgedRows,
          waitingSegments: await service.metric('millrace_wal_segments'),
        });
      }
      await senders.stop();
      await service.drained(drainTimeoutMs);
      return {
        acknowledgedRows: senders.acknowledgedRows,
        failedInserts: await service.metric('millrace_store_insert_failures_total'),
        ...compareBatches(senders.sent, await readStored(service)),
      };
    } finally {
      await service.dispose();
    }
  } finally {
    await server.dispose();
  }
}

/** Lets inserts hang from now on, and returns when the first one does. */
async function insertUnderWay(server: ClickHouseServer, when: StoreKill['when']): Promise<void> {
  await server.expect({ kind: 'delay', ms: 60_000, when }, /^INSERT INTO `t_default`/, hangingInserts);
  const deadlineMs = performance.now() + 30_000;
  while ((await server.faultsLeft()) === hangingInserts) {
    if (performance.now() > deadlineMs) throw new Error('No insert came for 30 s');
    await sleep(10);
  }
}
