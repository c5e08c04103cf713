/** Changes the output of a query on its way to the client. */
export interface OutputFilter {
  /** What can be sent, now that this piece is there. */
  push(piece: Uint8Array): readonly Uint8Array[];
  /** What is left when no piece follows. */
  end(): readonly Uint8Array[];
}
