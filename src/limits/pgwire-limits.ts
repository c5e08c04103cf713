/** The part of `limits` that is about the PostgreSQL wire protocol. */
const KiB = 1024;
const MiB = 1024 * KiB;

export const pgwireLimits = {
  /** Connections in all; the next one gets 53300. PostgreSQL's default is 100. */
  pgMaxConnections: 2000,
  /** Connections from one client network that are not signed in yet. */
  pgMaxUnauthenticatedPerClient: 50,
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
  /** Replies are written to the socket when there is so much of them. */
  pgWriteBufferBytes: 64 * KiB,
  /** Statements of one simple query. */
  pgMaxStatementsPerQuery: 100,
  /** Prepared statements of a session, and the bytes of their texts. */
  pgMaxPreparedStatements: 1000,
  pgMaxPreparedBytes: 4 * MiB,
  /** Portals and cursors of a session that are open at a time. */
  pgMaxPortals: 100,
  /** The bytes of the values bound to the portals of a session. */
  pgMaxPortalBytes: 4 * MiB,
  /** Names of prepared statements, portals and cursors. PostgreSQL cuts names at 63 bytes. */
  pgMaxNameBytes: 1024,
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
