/** How long the rows of a dataset are kept. Plain JSON. */
export interface Retention {
  readonly description: string;
  /** Whole days. A row is kept for at least this long after its own time. */
  readonly days: number;
}
