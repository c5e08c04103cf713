import { setTimeout as sleep } from 'node:timers/promises';
import type { Random } from '../lib/random.ts';
import { sendBatch } from './numbered-batches.ts';
import type { SentBatch } from './sent-and-stored.ts';
import type { Service } from './service.ts';

const senders = ['events', 'events', 'samples', 'samples'] as const;
export const senderPauseMs = 25;
const maxRowsPerBatch = 100;

/** Batches that are sent to a service on and on, each once, while something else happens to its store. */
export interface SteadySenders {
  /** Of all batches so far. */
  readonly sent: readonly SentBatch[];
  readonly acknowledgedRows: number;
  /** Whether a request was refused, so that no more may come of its sender. */
  readonly failed: boolean;
  /** @throws UnexpectedReply when the service refused a request: it must not need the store for that */
  stop(): Promise<void>;
}

export function startSenders(service: Service, random: Random): SteadySenders {
  const sent: SentBatch[] = [];
  let over = false;
  let failed = false;
  const sendOnAndOn = async (kind: SentBatch['kind']): Promise<void> => {
    while (!over) {
      const rows = random.integer(1, maxRowsPerBatch);
      const batch: SentBatch = { kind, number: sent.length, rows, acknowledged: false };
      sent.push(batch);
      try {
        await sendBatch(service, batch);
      } catch (error) {
        failed = true;
        throw error;
      }
      batch.acknowledged = true;
      await sleep(senderPauseMs);
    }
  };
  const sending = Promise.all(senders.map(sendOnAndOn));
  // Told by `stop`.
  sending.catch(() => {});
  return {
    sent,
    get acknowledgedRows() {
      return sent.reduce((sum, batch) => sum + (batch.acknowledged ? batch.rows : 0), 0);
    },
    get failed() {
      return failed;
    },
    stop: async () => {
      over = true;
      await sending;
    },
  };
}
