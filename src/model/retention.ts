/** How long the rows of a dataset are kept. Plain JSON. */
export interface Retention {
  readonly description: string;
  /** Whole days; a row is kept for at least as long after its own time. */
  readonly days: number;
}
