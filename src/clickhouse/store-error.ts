/**
 * Errors of ClickHouse, by its error numbers. Whether a statement is retried is decided here by
 * code, never by text.
 */

/** Temporary failures: the same statement may succeed later. */
const retryableCodes: ReadonlySet<number> = new Set([
  3, // UNEXPECTED_END_OF_FILE: the connection broke in the middle
  74, // CANNOT_READ_FROM_FILE_DESCRIPTOR
  75, // CANNOT_WRITE_TO_FILE_DESCRIPTOR
  76, // CANNOT_OPEN_FILE: out of descriptors
  159, // TIMEOUT_EXCEEDED
  160, // TOO_SLOW
  164, // READONLY: the server's replica or disk is read-only for now
  192, // UNKNOWN_USER: this and its like until somebody sets the credentials or their rights straight
  193, // WRONG_PASSWORD
  194, // REQUIRED_PASSWORD
  195, // IP_ADDRESS_NOT_ALLOWED
  198, // DNS_ERROR
  201, // QUOTA_EXCEEDED
  202, // TOO_MANY_SIMULTANEOUS_QUERIES
  203, // NO_FREE_CONNECTION
  209, // SOCKET_TIMEOUT
  210, // NETWORK_ERROR
  225, // NO_ZOOKEEPER
  236, // ABORTED
  241, // MEMORY_LIMIT_EXCEEDED
  242, // TABLE_IS_READ_ONLY
  243, // NOT_ENOUGH_SPACE
  252, // TOO_MANY_PARTS: backpressure, never success
  254, // NO_REPLICA_HAS_PART
  265, // NO_ACTIVE_REPLICAS
  279, // ALL_CONNECTION_TRIES_FAILED
  285, // TOO_FEW_LIVE_REPLICAS
  286, // UNSATISFIED_QUORUM_FOR_PREVIOUS_WRITE
  290, // LIMIT_EXCEEDED
  319, // UNKNOWN_STATUS_OF_INSERT
  394, // QUERY_WAS_CANCELLED
  425, // SYSTEM_ERROR
  473, // DEADLOCK_AVOIDED
  497, // ACCESS_DENIED
  499, // S3_ERROR
  516, // AUTHENTICATION_FAILED
  667, // NOT_INITIALIZED
  722, // ASYNC_LOAD_WAIT_FAILED
  745, // SERVER_OVERLOADED
  999, // KEEPER_EXCEPTION
]);

/** The store lacks memory for a statement. */
export const memoryLimitExceeded = 241;
/** It is unknown whether an insert was stored, or still will be. */
export const unknownStatusOfInsert = 319;

export class StoreError extends Error {
  override readonly name = 'StoreError';
  /**
   * ClickHouse's error number; undefined if ClickHouse did not answer (network failure, closed connection).
   */
  readonly clickHouseCode: number | undefined;

  constructor(message: string, clickHouseCode: number | undefined, cause: unknown) {
    super(message, { cause });
    this.clickHouseCode = clickHouseCode;
  }

  /** Without an answer from ClickHouse nothing is known, so a retry is right. */
  get retryable(): boolean {
    return this.clickHouseCode === undefined || retryableCodes.has(this.clickHouseCode);
  }
}

/** Converts any thrown value to a `StoreError`. */
export function toStoreError(thrown: unknown): StoreError {
  if (thrown instanceof StoreError) return thrown;
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  const code = typeof thrown === 'object' && thrown !== null && 'code' in thrown ? thrown.code : undefined;
  const number = typeof code === 'string' && /^\d{1,5}$/.test(code) ? code : leadingCode.exec(message)?.[1];
  const text = message.replace(leadingCode, '');
  return new StoreError(text, number === undefined ? undefined : Number(number), thrown);
}

/**
 * The prefix of each ClickHouse message. The client parses the code and removes the prefix only if the
 * message ends with the error's name, and the embedded engine cuts a message that quotes binary data at its
 * first zero byte. For an insert from a file the engine writes the prefix twice.
 */
const leadingCode = /^(?:Code: (\d{1,5})\. DB::(?:[\w:]*Exception: )?)+/;
