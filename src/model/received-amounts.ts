/** How much was received of a dataset. */
export interface ReceivedAmount {
  /** Events, records, spans or samples. */
  readonly events: number;
  /** Of bodies, as they were sent. */
  readonly bytes: number;
}

/** The same of one day. */
export interface ReceivedDay extends ReceivedAmount {
  /** Of receipt (UTC), counted from 1970. */
  readonly day: number;
}

export const sumOfReceived = (amounts: readonly ReceivedAmount[]): ReceivedAmount =>
  amounts.reduce((sum, { events, bytes }) => ({ events: sum.events + events, bytes: sum.bytes + bytes }), {
    events: 0,
    bytes: 0,
  });

/**
 * The oldest of what was received: so many events, and the bytes that they came in. Of a day of which some have to do,
 * each event has the same share of its bytes.
 * @param days the oldest first
 */
export function oldestReceived(days: readonly ReceivedDay[], events: number): ReceivedAmount {
  let left = events;
  let bytes = 0;
  for (const day of days) {
    if (left <= 0) break;
    const taken = Math.min(left, day.events);
    if (day.events > 0) bytes += (day.bytes * taken) / day.events;
    left -= taken;
  }
  return { events, bytes: Math.round(bytes) };
}

/** When a request came, and how long its body was. Plain JSON. */
export interface Receipt {
  /** Microseconds since 1970. */
  readonly micros: number;
  readonly bytes: number;
}
