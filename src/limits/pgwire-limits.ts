/** The part of `limits` that is about the PostgreSQL wire protocol. */
const KiB = 1024;
const MiB = 1024 * KiB;

export const pgwireLimits = {
  /** Connections in all; the next one gets 53300. PostgreSQL's default is 100. */
  pgMaxConnections: 2000,
  /** Connections from one client network that are not signed in yet. */
  pgMaxUnauthenticatedPerClient: 50,
  /**
   * The same of all networks: the rest is for those who are signed in. Beyond it, the oldest connection of
   * the network with most of them ends.
   */
  pgMaxUnauthenticated: 500,
  /** Sessions of one user or key, and of one tenant: others get in whatever one does. */
  pgMaxSessionsPerIdentity: 500,
  pgMaxSessionsPerTenant: 1000,
  /** From the connection to the end of the sign-in; PostgreSQL's `authentication_timeout`. */
  pgSignInTimeoutMs: 30_000,
  /** A start-up packet; PostgreSQL's MAX_STARTUP_PACKET_LENGTH. */
  pgMaxStartupBytes: 10_000,
  /** A message before the client is signed in; PostgreSQL's PG_MAX_AUTH_TOKEN_LENGTH. */
  pgMaxSignInMessageBytes: 65_535,
  /** A message of a session: a query, or the values of its parameters, with what is around them. */
  pgMaxMessageBytes: 1 * MiB,
  /** What may wait in a session before its socket is no longer read. */
  pgMaxInboxBytes: 256 * KiB,
  /** How long sessions together work in one turn of the event loop; one message more may be handled. */
  pgSliceMs: 5,
  /** Pieces of a message of less than this are put together as they arrive: each takes 200 bytes more. */
  pgSmallPieceBytes: 16 * KiB,
  /** Replies are written to the socket when there is so much of them. */
  pgWriteBufferBytes: 64 * KiB,
  /** Statements of one simple query. */
  pgMaxStatementsPerQuery: 100,
  /** Prepared statements of a session, and the memory that they take with what is known of their columns. */
  pgMaxPreparedStatements: 1000,
  pgMaxPreparedBytes: 16 * MiB,
  /** What a prepared statement or a portal takes besides its text and values, and each of its columns. */
  pgStatementOverheadBytes: 1024,
  pgColumnBytes: 100,
  /** Portals and cursors of a session that are open at a time. */
  pgMaxPortals: 100,
  /** The bytes of the values bound to the portals of a session. */
  pgMaxPortalBytes: 4 * MiB,
  /**
   * Prepared statements, values of portals and incomplete messages of all sessions; one tenant has half of
   * it.
   */
  pgMaxHeldBytes: 256 * MiB,
  /** A message from this size on counts for that while it arrives. */
  pgLongMessageBytes: 64 * KiB,
  /** A row of a result, and an array or a map in it: they are read and written anew on the event loop. */
  pgMaxRowBytes: 16 * MiB,
  pgMaxContainerBytes: 1 * MiB,
  /** Names of prepared statements, portals and cursors. PostgreSQL cuts names at 63 bytes. */
  pgMaxNameBytes: 1024,
  /** Of the text of a statement in `pg_stat_activity`, as PostgreSQL's `track_activity_query_size`. */
  pgActivityQueryLength: 1024,
  pgMaxSavepoints: 100,
  /** Settings that a session has changed; clients may make up names with a dot. */
  pgMaxChangedSettings: 200,
  /** Characters of the value of a setting. */
  pgMaxSettingLength: 1024,
  /** How long a session may be idle, ms; half of it inside of a transaction block. */
  pgIdleTimeoutMs: 24 * 3_600_000,
  pgIdleInTransactionTimeoutMs: 600_000,
  /** How often sessions are looked at: whether their credentials still hold, and how long they were idle. */
  pgSessionCheckMs: 500,
  /** A failed sign-in is answered after this long: an attacker gets one try a second and connection. */
  pgFailedSignInDelayMs: 1000,
  /** How long a client may take to close its side when the server has closed its own. */
  pgCloseTimeoutMs: 5000,
  /** TCP keep-alive, so that clients that are gone are noticed. */
  pgKeepAliveMs: 60_000,
  /** Iterations of PBKDF2 in SCRAM-SHA-256 (RFC 7677 asks for 4096 at least; PostgreSQL takes 4096). */
  scramIterations: 4096,
} as const;
