/** How much was received for a dataset. */
export interface ReceivedAmount {
  /** Events, records, spans or samples. */
  readonly events: number;
  /** Bytes of bodies as they were sent. */
  readonly bytes: number;
}

/** The amount of one day. */
export interface ReceivedDay extends ReceivedAmount {
  /** The day of receipt (UTC), as days since 1970. */
  readonly day: number;
}

export const sumOfReceived = (amounts: readonly ReceivedAmount[]): ReceivedAmount =>
  amounts.reduce((sum, { events, bytes }) => ({ events: sum.events + events, bytes: sum.bytes + bytes }), {
    events: 0,
    bytes: 0,
  });

/**
 * The oldest part of what was received: so many events and their bytes. If only some events of a day are
 * taken, each counts with an equal share of that day's bytes.
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

/** When a request arrived, and the size of its body. Plain JSON. */
export interface Receipt {
  /** Microseconds since 1970. */
  readonly micros: number;
  readonly bytes: number;
}
