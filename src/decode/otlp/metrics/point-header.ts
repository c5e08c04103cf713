import { limits } from '../../../limits/limits.ts';
import { fieldTag, type ProtobufReader } from '../../wire/protobuf-reader.ts';
import { millisOfNanos } from './nanos.ts';

/** Numbers of the fields that all data points have, and that differ by their kind. */
export interface PointFieldNumbers {
  readonly attributes: number;
  readonly flags: number;
  /** Undefined for points that have none. */
  readonly exemplars: number | undefined;
}

const startField = fieldTag(2, 'fixed64');
const timeField = fieldTag(3, 'fixed64');
const noRecordedValue = 1;
/** No tag of a field. */
const noTag = -1;

/** What all kinds of data points have. One object is filled again and again. */
export class PointHeader {
  /** Milliseconds since 1970; the time of receipt where the sender gave none. */
  timestampMs = 0;
  /** Since when the point counts, milliseconds since 1970; 0 for unknown. */
  startMs = 0;
  /** Whether the point says that there is no value, which Prometheus has a stale marker for. */
  isUnrecorded = false;
  /** From the first attribute to the last one; they are side by side in what senders write. */
  attributesStart = 0;
  attributesEnd = 0;
  /** The tag of an attribute and of an exemplar. */
  attributeTag = noTag;
  exemplarTag = noTag;
  /** Where the first exemplar is; -1 if there is none. */
  exemplarsStart = -1;
  #flagsTag = noTag;
  readonly #receivedMs: number;

  /** @param receivedMicros since 1970 */
  constructor(receivedMicros: number) {
    this.#receivedMs = Math.floor(receivedMicros / 1000);
  }

  begin({ attributes, flags, exemplars }: PointFieldNumbers): void {
    this.timestampMs = this.startMs = 0;
    this.isUnrecorded = false;
    this.attributesStart = this.attributesEnd = 0;
    this.exemplarsStart = -1;
    this.attributeTag = fieldTag(attributes, 'bytes');
    this.exemplarTag = exemplars === undefined ? noTag : fieldTag(exemplars, 'bytes');
    this.#flagsTag = fieldTag(flags, 'varint');
  }

  /** Takes a field if all points have it; the cursor is behind its tag, and then behind the field. */
  take(reader: ProtobufReader, tag: number, fieldStart: number, end: number): boolean {
    if (tag === this.attributeTag) {
      if (this.attributesEnd === 0) this.attributesStart = fieldStart;
      this.attributesEnd = reader.lengthEnd(end);
      reader.position = this.attributesEnd;
    } else if (tag === timeField) {
      reader.fixed64(end);
      this.timestampMs = millisOfNanos(reader.low, reader.high);
    } else if (tag === startField) {
      reader.fixed64(end);
      this.startMs = millisOfNanos(reader.low, reader.high);
    } else if (tag === this.#flagsTag) {
      reader.varint64(end);
      this.isUnrecorded = (reader.low & noRecordedValue) !== 0;
    } else if (tag === this.exemplarTag) {
      if (this.exemplarsStart < 0) this.exemplarsStart = fieldStart;
      reader.position = reader.lengthEnd(end);
    } else {
      return false;
    }
    return true;
  }

  /** Completes the times. @returns why they cannot be stored, or undefined */
  timeProblem(): string | undefined {
    if (this.timestampMs === 0) this.timestampMs = this.#receivedMs;
    return timeProblem('time', this.timestampMs) ?? timeProblem('start time', this.startMs);
  }
}

/** @returns why a time cannot be stored, or undefined */
export function timeProblem(what: string, timestampMs: number): string | undefined {
  if (timestampMs <= limits.maxSampleTimestampMs) return undefined;
  return `its ${what} is ${timestampMs} ms, from 0 to ${limits.maxSampleTimestampMs} are allowed`;
}
