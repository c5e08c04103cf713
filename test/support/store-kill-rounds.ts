import { setTimeout as sleep } from 'node:timers/promises';
import { ClickHouseServer } from './clickhouse-server.ts';
import { readStored, sendBatch } from './numbered-batches.ts';
import { seededRandom } from './random.ts';
import { type Comparison, compareBatches, type SentBatch } from './sent-and-stored.ts';
import { Service } from './service.ts';

/**
 * A ClickHouse server that is killed and started again under load, over and over, while the service in front
 * of it runs on and acknowledges every request. In a round the server first runs for a while, with inserts slow
 * enough to be under way when the SIGKILL comes, and is then away for a while.
 */
export interface StoreKillOptions {
  readonly rounds: number;
  readonly seed: number;
  readonly onRound?: (report: StoreKill) => void;
}

export interface StoreKill {
  readonly round: number;
  /** From the server's readiness to the kill. */
  readonly killedAfterMs: number;
  /** From the kill to the start of the server. */
  readonly awayMs: number;
  /** Rows that the service acknowledged so far. */
  readonly acknowledgedRows: number;
}

export interface StoreKillReport extends Comparison {
  readonly acknowledgedRows: number;
  /** Inserts that failed and were tried again. */
  readonly failedInserts: number;
}

const senders = ['events', 'events', 'samples', 'samples'] as const;
const senderPauseMs = 10;
const maxRowsPerBatch = 100;

/** @throws UnexpectedReply when the service refused a request: it must not need the server for that */
export async function runStoreKillRounds(options: StoreKillOptions): Promise<StoreKillReport> {
  const random = seededRandom(options.seed);
  const server = await ClickHouseServer.start();
  try {
    const service = await Service.start({ env: { MILLRACE_CLICKHOUSE_URL: server.url } });
    try {
      const sent: SentBatch[] = [];
      let over = false;
      const sendOnAndOn = async (kind: SentBatch['kind']): Promise<void> => {
        while (!over) {
          const rows = random.integer(1, maxRowsPerBatch);
          const batch: SentBatch = { kind, number: sent.length, rows, acknowledged: false };
          sent.push(batch);
          await sendBatch(service, batch);
          batch.acknowledged = true;
          await sleep(senderPauseMs);
        }
      };
      const killOnAndOn = async (): Promise<void> => {
        for (let round = 1; round <= options.rounds; round++) {
          const killedAfterMs = random.integer(300, 2500);
          const awayMs = random.integer(0, 2000);
          await server.expect({ kind: 'delay', ms: 200 }, /^INSERT INTO `t_default`/, 2);
          await sleep(killedAfterMs);
          await server.kill();
          await sleep(awayMs);
          await server.start();
          options.onRound?.({ round, killedAfterMs, awayMs, acknowledgedRows: acknowledgedRows(sent) });
        }
        over = true;
      };
      await Promise.all([...senders.map(sendOnAndOn), killOnAndOn()]);
      await service.drained();
      return {
        acknowledgedRows: acknowledgedRows(sent),
        failedInserts: await service.metric('millrace_store_insert_failures_total'),
        ...compareBatches(sent, await readStored(service)),
      };
    } finally {
      await service.dispose();
    }
  } finally {
    await server.dispose();
  }
}

const acknowledgedRows = (sent: readonly SentBatch[]): number =>
  sent.reduce((sum, batch) => sum + (batch.acknowledged ? batch.rows : 0), 0);
