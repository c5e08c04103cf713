/** An event of a stream of server-sent events; comments have the text alone. */
export interface SentEvent {
  readonly event: string;
  readonly id: string | undefined;
  /** Undefined if there is an id alone, which is no event. */
  readonly data: string | undefined;
}

/** What a client of a live tail has read. */
export interface TailReading {
  readonly rows: ReadonlyArray<Record<string, unknown>>;
  /** Of the events `skipped`. */
  readonly skipped: ReadonlyArray<{ readonly rows: number | null; readonly reason: string }>;
  readonly end: { readonly code: string } | undefined;
  readonly lastId: string;
}

/** The events of a text, without those that are incomplete (WHATWG HTML, section 9.2.6). */
export const sentEvents = (text: string): readonly SentEvent[] =>
  text
    .split('\n\n')
    .slice(0, -1)
    .map((lines) => lines.split('\n').filter((line) => !line.startsWith(':')))
    .filter((lines) => lines.length > 0)
    .map((lines) => {
      const memberOf = (name: string) =>
        lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2);
      return { event: memberOf('event') ?? 'message', id: memberOf('id'), data: memberOf('data') };
    });

/** Reads what a live tail has sent. */
export function readTail(text: string): TailReading {
  const events = sentEvents(text);
  const dataOf = <T>(name: string) =>
    events.flatMap(({ event, data }) =>
      event === name && data !== undefined ? [JSON.parse(data) as T] : [],
    );
  return {
    rows: dataOf('message'),
    skipped: dataOf('skipped'),
    end: dataOf<{ code: string }>('end')[0],
    lastId: events.findLast(({ id }) => id !== undefined)?.id ?? '',
  };
}
