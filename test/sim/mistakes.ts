/**
 * A mistake that somebody could make in the durable path: a piece of its source that occurs once, and its
 * replacement.
 */
export interface Mistake {
  readonly what: string;
  /** Relative to `src`. */
  readonly file: string;
  readonly from: string;
  readonly to: string;
}

/** Mistakes that the simulation must find, each by one of the promises that are then broken. */
export const mistakes: readonly Mistake[] = [
  {
    what: 'a request is answered before its record is synced',
    file: 'wal/active-segment.ts',
    from: 'return this.#file.writeDurably(buffers, this.#length);',
    to: 'return this.#file.write(buffers, this.#length);',
  },
  {
    what: 'a failed write stays behind the records of its segment',
    file: 'wal/segment-chain.ts',
    from: 'await segment.cutBack();',
    to: '',
  },
  {
    what: 'a failed write is cut off, and that not synced',
    file: 'wal/active-segment.ts',
    from: 'await this.#file.truncate(this.#length);\n    await this.#file.sync();',
    to: 'await this.#file.truncate(this.#length);',
  },
  {
    what: 'a segment is sealed with preallocated space behind its records',
    file: 'wal/segment-chain.ts',
    from: 'await segment.cutPreallocation();',
    to: '',
  },
  {
    what: 'the name of a new segment is not synced',
    file: 'wal/active-segment.ts',
    from: 'await files.syncDirectory();',
    to: '',
  },
  {
    what: 'a start takes what it reads for durable',
    file: 'wal/recovery.ts',
    from: 'if (newest > 0) await writeAgain(files, segmentName(newest));',
    to: '',
  },
  {
    what: 'a start syncs what it reads without writing it again',
    file: 'wal/recovery.ts',
    from: 'await file.write([await file.read(position, copyBytes)], position);',
    to: '',
  },
  {
    what: 'the removal of a segment is not synced',
    file: 'wal/backlog.ts',
    from: 'await this.#files.syncDirectory();',
    to: '',
  },
  {
    what: 'the newest file may go, and its number comes again',
    file: 'wal/backlog.ts',
    from: '.filter(([number]) => number !== this.#highestNumber)',
    to: '',
  },
  {
    what: 'a sidecar file counts before it is synced',
    file: 'wal/sidecar-file.ts',
    from: 'await file.writeDurably([encode(value)], 0);',
    to: 'await file.write([encode(value)], 0);',
  },
  {
    what: 'a segment leaves the log while a part of it waits',
    file: 'drain/drain-state.ts',
    from: 'this.waiting.size === 0 && ',
    to: '',
  },
  {
    what: 'a batched job is sent before its manifest is durable',
    file: 'drain/drain.ts',
    from: 'this.#startBatchedJob(plan, this.#manifests);',
    to: 'this.#startBatchedJob(plan);',
  },
  {
    what: 'recovered batched jobs let go of their segments before the first is queued',
    file: 'drain/drain.ts',
    from: 'of recovered.completedBy(pending)',
    to: 'of [...recovered.completedBy(pending)]',
  },
  {
    what: 'an insert that failed is repeated with trust in its token',
    file: 'drain/drain.ts',
    from: 'job.inDoubt.add(queue);\n      throw error;',
    to: 'throw error;',
  },
  {
    what: 'what an earlier run may have sent is repeated with trust in its token',
    file: 'drain/drain.ts',
    from: 'if (isRecovered && previous === undefined) job.inDoubt.add(queue);',
    to: '',
  },
  {
    what: 'a table goes on while the log has all of its last insert',
    file: 'drain/drain.ts',
    from: 'if (previous !== undefined && !(await this.#passGate(previous, queue))) return;',
    to: '',
  },
  {
    what: 'a segment is removed while its checkpoint is being written',
    file: 'drain/drain.ts',
    from: 'for (const { checkpointing } of jobs) await checkpointing;',
    to: '',
  },
  {
    what: 'a checkpoint counts before it is durable',
    file: 'wal/checkpoints.ts',
    from: 'await writeSidecar(files, name, { segment, tables });\n  for (const table of tables) checkpoint.tables.add(table);',
    to: 'for (const table of tables) checkpoint.tables.add(table);\n  await writeSidecar(files, name, { segment, tables });',
  },
  {
    what: 'a table does not wait for the first one of its dataset',
    file: 'drain/drain.ts',
    from: 'const before = [ready, queue.tail, this.#queues.get(batch.firstTable)?.tail];',
    to: 'const before = [ready, queue.tail];',
  },
  {
    what: 'an insert in doubt does not wait for one that still runs',
    file: 'drain/in-doubt-insert.ts',
    from: '(await runningInserts(store, token)) > 0',
    to: '(await runningInserts(store, token)) < 0',
  },
  {
    what: 'rows that were not loaded count as compared',
    file: 'drain/in-doubt-insert.ts',
    from: 'if (loaded !== countRows(rows)) {',
    to: 'if (loaded < 0) {',
  },
  {
    what: 'what the log has of a deleted dataset goes to the next of its name',
    file: 'catalog/dataset-ids.ts',
    from: 'this.hasEnded(tenant) || !presumed || !this.#datasets.hadEnded(tenant, id)',
    to: 'this.hasEnded(tenant)',
  },
  {
    what: 'what came before the store was read ends with the dataset that had ended by then',
    file: 'catalog/dataset-ids.ts',
    from: 'return this.of(tenant, parseGenerationId(id).name);',
    to: 'return undefined;',
  },
];
