import { setTimeout as sleep } from 'node:timers/promises';
import { type Random, seededRandom } from '../lib/random.ts';
import { readStored, sendBatch } from './numbered-batches.ts';
import { type BatchKind, compareBatches, type SentBatch } from './sent-and-stored.ts';
import { Service, UnexpectedReply } from './service.ts';

/**
 * SIGKILL in the middle of ingest, over and over, on one data directory.
 *
 * A round: several connections send JSON events, samples of remote write, and OTLP metrics, logs and spans,
 * in JSON and protobuf, as fast as they are answered; at a random moment the process is killed; it is started
 * again, now and then killed once more while it replays its log; when the log is in the store, everything
 * that was ever sent is compared with what SQL finds.
 */
export interface KillRoundsOptions {
  readonly rounds: number;
  readonly seed: number;
  readonly onRound?: (report: RoundReport) => void;
}

export interface RoundReport {
  readonly round: number;
  /** From the first acknowledgement of the round to the kill. */
  readonly killedAfterMs: number;
  /** Further kills while the service was starting. */
  readonly killsInReplay: number;
  /** Last start to readiness. */
  readonly restartMs: number;
  /** Rows of this round in batches that were acknowledged. */
  readonly acknowledgedRows: number;
  /** Batches of this round that were sent and never answered. */
  readonly unansweredBatches: number;
  /** All rows that SQL finds, of this round and those before. */
  readonly storedRows: number;
  /** Rows of acknowledged batches that are missing, of this round and those before. */
  readonly lostRows: number;
  /** Rows that are there more often than once. */
  readonly duplicatedRows: number;
  /** One line for every batch that is not as it must be. */
  readonly problems: readonly string[];
}

const connections: Readonly<Record<BatchKind, number>> = {
  events: 3,
  samples: 3,
  points: 2,
  logs: 2,
  spans: 2,
};
const kinds = Object.keys(connections) as readonly BatchKind[];
const maxRowsPerBatch = 200;

export async function runKillRounds(options: KillRoundsOptions): Promise<RoundReport[]> {
  const random = seededRandom(options.seed);
  // Segments of a tenth of a second: the log is nearly always being moved to the store, so that most kills
  // come between the insert of a table and the end of its segment.
  const service = await Service.start({ env: { MILLRACE_FLUSH_INTERVAL_MS: '100' } });
  try {
    const sent: SentBatch[] = [];
    await sendFirst(service, sent);
    const reports: RoundReport[] = [];
    for (let round = 1; round <= options.rounds; round++) {
      const before = sent.length;
      const killedAfterMs = random.integer(0, 1500);
      await sendUntilKilled(service, sent, killedAfterMs, random);
      const restart = await restartWithKills(service, random);
      await service.drained();
      const stored = await readStored(service, kinds);
      const ofRound = sent.slice(before);
      const report: RoundReport = {
        round,
        killedAfterMs,
        ...restart,
        acknowledgedRows: sum(ofRound.filter((batch) => batch.acknowledged).map((batch) => batch.rows)),
        unansweredBatches: ofRound.filter((batch) => !batch.acknowledged).length,
        ...compareBatches(sent, stored),
      };
      reports.push(report);
      options.onRound?.(report);
    }
    return reports;
  } finally {
    await service.dispose();
  }
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);

/** One batch of each kind, so that all datasets are there whenever the first kill comes. */
async function sendFirst(service: Service, sent: SentBatch[]): Promise<void> {
  for (const kind of kinds) {
    const batch: SentBatch = { kind, number: sent.length, rows: 1, acknowledged: true };
    sent.push(batch);
    await sendBatch(service, batch);
  }
}

/** Adds what it sends to `sent`; ends when every connection has noticed the kill. */
async function sendUntilKilled(
  service: Service,
  sent: SentBatch[],
  killAfterMs: number,
  random: Random,
): Promise<void> {
  let killed = false;
  let onReply = (): void => {};
  const firstReply = new Promise<void>((resolve) => {
    onReply = resolve;
  });
  const sendOnAndOn = async (kind: SentBatch['kind']): Promise<void> => {
    while (!killed) {
      const batch: SentBatch = {
        kind,
        number: sent.length,
        rows: random.integer(1, maxRowsPerBatch),
        acknowledged: false,
      };
      sent.push(batch);
      try {
        await sendBatch(service, batch);
        batch.acknowledged = true;
        onReply();
      } catch (error) {
        if (error instanceof UnexpectedReply && error.status === 503) await sleep(20);
        else if (!killed || error instanceof UnexpectedReply) throw error;
      }
    }
  };
  const senders = kinds.flatMap((kind) => Array.from({ length: connections[kind] }, () => sendOnAndOn(kind)));
  const kill = async (): Promise<void> => {
    // A new process on a slow machine can need hundreds of milliseconds for its first reply. If it is killed
    // before that, the round tests nothing.
    await firstReply;
    await sleep(killAfterMs);
    killed = true;
    await service.kill();
  };
  await Promise.all([...senders, kill()]);
}

async function restartWithKills(
  service: Service,
  random: Random,
): Promise<{ restartMs: number; killsInReplay: number }> {
  let killsInReplay = 0;
  while (random.chance(0.3)) {
    await service.launch();
    await sleep(random.integer(50, 1500));
    await service.kill();
    killsInReplay++;
  }
  const start = performance.now();
  await service.restart();
  return { restartMs: Math.round(performance.now() - start), killsInReplay };
}
