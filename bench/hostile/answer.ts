/** The outcome of one hostile request. */
export interface Answer {
  /**
   * The HTTP status. `closed`: the connection ended without a reply. `left`: the attacker gave up, or did not
   * send the request because its time was over. `none`: no reply within the time for a request.
   */
  readonly status: number | 'closed' | 'left' | 'none';
  /** Of an error of the service. */
  readonly code?: string;
  /** From the start of the request to the end of the reply. */
  readonly tookMs?: number;
}
