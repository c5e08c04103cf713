export type BatchKind = 'events' | 'samples' | 'points' | 'logs' | 'spans';

/** A request as its sender remembers it. */
export interface SentBatch {
  readonly kind: BatchKind;
  /** Unique over all batches; its rows carry it. */
  readonly number: number;
  readonly rows: number;
  /** Set by a 2xx and by nothing else. */
  acknowledged: boolean;
}

/** What SQL finds of a batch. */
export interface StoredBatch {
  readonly number: number;
  readonly stored: number;
  /** Different rows among them. */
  readonly distinct: number;
}

export interface Comparison {
  readonly storedRows: number;
  readonly lostRows: number;
  readonly duplicatedRows: number;
  readonly problems: readonly string[];
}

/**
 * The promise of the service: an acknowledged batch is there whole and once; one that was not acknowledged is
 * there whole and once, or not at all; nothing else is there.
 */
export function compareBatches(sent: readonly SentBatch[], stored: readonly StoredBatch[]): Comparison {
  const found = new Map(stored.map((batch) => [batch.number, batch]));
  const problems: string[] = [];
  let storedRows = 0;
  let lostRows = 0;
  let duplicatedRows = 0;
  for (const batch of sent) {
    const { stored: count, distinct } = found.get(batch.number) ?? { stored: 0, distinct: 0 };
    found.delete(batch.number);
    storedRows += count;
    duplicatedRows += count - distinct;
    if (batch.acknowledged) lostRows += batch.rows - distinct;
    const whole = count === batch.rows && distinct === batch.rows;
    const absent = count === 0 && !batch.acknowledged;
    if (!whole && !absent) {
      const reply = batch.acknowledged ? 'acknowledged' : 'not answered';
      problems.push(
        `batch ${batch.number} (${batch.kind}, ${reply}): ${batch.rows} rows sent, ${count} stored, ${distinct} different`,
      );
    }
  }
  for (const [number, { stored: count }] of found) {
    storedRows += count;
    problems.push(`batch ${number} was never sent: ${count} rows stored`);
  }
  return { storedRows, lostRows, duplicatedRows, problems };
}
