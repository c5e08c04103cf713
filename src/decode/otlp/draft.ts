import { isUtf8 } from 'node:buffer';
import { ByteWriter } from '../../lib/byte-writer.ts';

/** Texts longer than this are looked at by Node itself; below, a call into it costs more than a loop. */
const shortTextBytes = 48;

/** A text of the record under way: a range of the body, or of the draft's own memory. UTF-8. */
export class DraftText {
  inBody = true;
  start = 0;
  end = 0;

  get length(): number {
    return this.end - this.start;
  }

  clear(): void {
    this.inBody = true;
    this.start = 0;
    this.end = 0;
  }

  assign(other: DraftText): void {
    this.inBody = other.inBody;
    this.start = other.start;
    this.end = other.end;
  }
}

/**
 * What is known of a record (or of a resource, or a scope) while it is read, before anything of it becomes a
 * row. Texts that stand in the body as they are to be stored stay there; others are written into `own`.
 */
export class Draft {
  readonly body: Buffer;
  readonly own = new ByteWriter(256);
  /** Whether all texts of the body are known to be valid UTF-8; else each is checked, and repaired. */
  isUtf8 = false;
  /** Why it cannot be stored; undefined if it can. */
  problem: string | undefined;
  /** What of it is left out while the rest is stored; the first of several. */
  warning: string | undefined;

  constructor(body: Buffer) {
    this.body = body;
  }

  begin(): void {
    this.own.length = 0;
    this.problem = this.warning = undefined;
  }

  /** The memory that the range of a text is in; good until something is written into `own`. */
  bytesOf(text: DraftText): Buffer {
    return text.inBody ? this.body : this.own.buffer;
  }

  /** The bytes `[start, end)` of the body, which are valid UTF-8. */
  take(text: DraftText, start: number, end: number): void {
    text.inBody = true;
    text.start = start;
    text.end = end;
  }

  /** What was written into `own` from `start` on. */
  takeOwn(text: DraftText, start: number): void {
    text.inBody = false;
    text.start = start;
    text.end = this.own.length;
  }

  /** The bytes `[start, end)` of the body as text; what is not valid UTF-8 in it becomes U+FFFD. */
  takeUnchecked(text: DraftText, start: number, end: number): void {
    if (this.isUtf8 || isValidText(this.body, start, end)) {
      this.take(text, start, end);
      return;
    }
    const from = this.own.length;
    this.own.copy(Buffer.from(this.body.toString('utf8', start, end)));
    this.takeOwn(text, from);
  }

  refuse(problem: string): void {
    this.problem ??= problem;
  }

  warn(warning: string): void {
    this.warning ??= warning;
  }
}

function isValidText(bytes: Buffer, start: number, end: number): boolean {
  if (end - start > shortTextBytes) return isUtf8(bytes.subarray(start, end));
  let all = 0;
  for (let at = start; at < end; at++) all |= bytes[at] as number;
  return all < 0x80 || isUtf8(bytes.subarray(start, end));
}
