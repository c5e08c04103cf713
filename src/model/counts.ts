/** What a body held, for the reply and for `/metrics`. */
export interface DecodeCounts {
  readonly events: number;
  readonly samples: number;
}
