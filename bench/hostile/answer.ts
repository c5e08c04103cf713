/** What came of one hostile request. */
export interface Answer {
  /**
   * Of HTTP; `closed` without a reply; `left` by the attacker itself, or not sent any more since its time was
   * over; `none` within the time that each request has.
   */
  readonly status: number | 'closed' | 'left' | 'none';
  /** Of an error of the service. */
  readonly code?: string;
  /** From the begin of the request to the end of the reply. */
  readonly tookMs?: number;
}
