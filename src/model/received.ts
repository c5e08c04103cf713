/** How much was received of a dataset. */
export interface ReceivedAmount {
  /** Events, records, spans or samples. */
  readonly events: number;
  /** Of bodies, as they were sent. */
  readonly bytes: number;
}

/** When a request came, and how long its body was. Plain JSON. */
export interface Receipt {
  /** Microseconds since 1970. */
  readonly micros: number;
  readonly bytes: number;
}
