import { isAscii } from 'node:buffer';
import type { LabelList, LabelSource } from '../../metrics/label-list.ts';
import { AttributeTexts } from '../attribute-texts.ts';

const noPrefix = Buffer.alloc(0);
const idLabels = {
  traceId: { name: Buffer.from('trace_id'), bytes: 16 },
  spanId: { name: Buffer.from('span_id'), bytes: 8 },
} as const;

/**
 * The labels of an exemplar: the ids of its span in hexadecimal digits, as `trace_id` and `span_id`, and the
 * attributes that the metric leaves out. An attribute of the name of an id gives way to it; of two others
 * the later one stays.
 */
export class ExemplarLabels implements LabelSource {
  /** Where the ids are in the message; empty for none. */
  readonly traceId = { start: 0, end: 0 };
  readonly spanId = { start: 0, end: 0 };
  readonly #message: Buffer;
  readonly #attributes: AttributeTexts;
  readonly #attributeTag: number;
  #problem: string | undefined;
  #warning: string | undefined;
  #start = 0;
  #end = 0;

  /** @param attributeTag of the field of an exemplar that holds an attribute */
  constructor(message: Buffer, attributeTag: number) {
    this.#message = message;
    this.#attributes = new AttributeTexts(message);
    this.#attributeTag = attributeTag;
  }

  /** Forgets the labels of the exemplar before; the next one is in `[start, end)`. */
  begin(start: number, end: number): void {
    this.#start = start;
    this.#end = end;
    this.#problem = this.#warning = undefined;
    this.#attributes.warning = undefined;
    this.traceId.start = this.traceId.end = this.spanId.start = this.spanId.end = 0;
  }

  get bytes(): Buffer {
    return this.#attributes.text.buffer;
  }

  problem(): string | undefined {
    return this.#problem;
  }

  /** What was left out of them when they were read, or undefined. */
  get warning(): string | undefined {
    return this.#warning;
  }

  isAscii(): boolean {
    return isAscii(this.#attributes.text.view());
  }

  readInto(list: LabelList): void {
    const { text } = this.#attributes;
    text.length = 0;
    const byName = new Map<string, readonly [number, number, number, number]>();
    const range = { start: this.#start, end: this.#end, tag: this.#attributeTag, prefix: noPrefix };
    this.#problem = this.#attributes.append(range, (nameStart, valueStart, valueEnd) => {
      const name = text.buffer.toString('latin1', nameStart, valueStart);
      byName.set(name, [nameStart, valueStart, valueStart, valueEnd]);
    });
    this.#warning = this.#attributes.warning;
    for (const key of ['traceId', 'spanId'] as const) {
      const { start, end } = this[key];
      const { name, bytes } = idLabels[key];
      const id = this.#message.subarray(start, end);
      if (id.length !== bytes && id.length > 0) {
        this.#warning ??= `its ${name} has ${id.length} bytes and not ${bytes}, and is left out`;
      }
      // Of another length, or all zeros: no id.
      if (id.length !== bytes || id.every((byte) => byte === 0)) continue;
      const nameStart = text.length;
      text.copy(name);
      const valueStart = text.length;
      text.copy(Buffer.from(id.toString('hex')));
      byName.set(name.toString(), [nameStart, valueStart, valueStart, text.length]);
    }
    for (const range of byName.values()) list.add(...range);
  }
}
