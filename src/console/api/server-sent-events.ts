export interface SentEvent {
  /** `message` if the service does not say. */
  readonly event: string;
  readonly data: string;
}

/** The longest event: beyond the largest row that the service stores. Half as much memory again is needed. */
export const maxSentEventLength = 64 * 1024 * 1024;

const [lineFeed, carriageReturn] = [0x0a, 0x0d];

/**
 * Reads server-sent events (WHATWG HTML, section 9.2.6) from bytes that are cut anywhere. It takes time in
 * proportion to the bytes, in however many parts they come.
 */
export class ServerSentEvents {
  readonly #decoder = new TextDecoder();
  readonly #maxLength: number;
  /** The line that has begun, and whether a line feed would still belong to the one before it. */
  #line: string[] = [];
  #isAfterReturn = false;
  /** The event that has begun: its characters, those of its lines. */
  #length = 0;
  #event = '';
  #data: string[] = [];
  #nextId: string;
  #lastId: string;

  /** @param lastId of the event behind which the stream begins; empty for none */
  constructor(lastId = '', maxLength = maxSentEventLength) {
    this.#nextId = lastId;
    this.#lastId = lastId;
    this.#maxLength = maxLength;
  }

  /** Behind which event a new stream should begin; empty if nobody has said. */
  get lastId(): string {
    return this.#lastId;
  }

  /**
   * The events that end in this part.
   * @throws RangeError if an event is longer than the bound
   */
  push(bytes: Uint8Array): readonly SentEvent[] {
    const text = this.#decoder.decode(bytes, { stream: true });
    const found: SentEvent[] = [];
    let start = 0;
    for (let at = 0; at < text.length; at += 1) {
      const code = text.charCodeAt(at);
      if (code !== lineFeed && code !== carriageReturn) {
        this.#isAfterReturn = false;
        continue;
      }
      if (code === lineFeed && this.#isAfterReturn) {
        this.#isAfterReturn = false;
        start = at + 1;
        continue;
      }
      this.#isAfterReturn = code === carriageReturn;
      this.#append(text.slice(start, at));
      start = at + 1;
      const line = this.#line.join('');
      this.#line = [];
      if (line !== '') this.#readLine(line);
      else this.#endEvent(found);
    }
    this.#append(text.slice(start));
    return found;
  }

  #append(part: string): void {
    if (part === '') return;
    this.#length += part.length;
    if (this.#length > this.#maxLength) {
      throw new RangeError(`an event is longer than ${this.#maxLength} characters`);
    }
    this.#line.push(part);
  }

  #readLine(line: string): void {
    const colon = line.indexOf(':');
    const name = colon < 0 ? line : line.slice(0, colon);
    const text = colon < 0 ? '' : line.slice(colon + 1);
    const value = text.startsWith(' ') ? text.slice(1) : text;
    if (name === 'data') this.#data.push(value);
    else if (name === 'event') this.#event = value;
    else if (name === 'id' && !value.includes('\0')) this.#nextId = value;
    // Anything else means nothing, and a comment has no name. A comment alone is no event.
  }

  #endEvent(found: SentEvent[]): void {
    this.#lastId = this.#nextId;
    // Without data it only says where the stream is.
    if (this.#data.length > 0) {
      found.push({ event: this.#event === '' ? 'message' : this.#event, data: this.#data.join('\n') });
    }
    this.#event = '';
    this.#data = [];
    this.#length = 0;
  }
}
