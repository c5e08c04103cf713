/** Changes the output of a query before it is sent to the client. */
export interface OutputFilter {
  /** Takes the next piece of the output. @returns what can be sent now */
  push(piece: Uint8Array): readonly Uint8Array[];
  /** Called after the last piece. @returns the rest of the output */
  end(): readonly Uint8Array[];
}
