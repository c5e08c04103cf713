/** The part of `limits` for authentication and identities. */

const KiB = 1024;
const MiB = 1024 * KiB;

export const identityLimits = {
  /**
   * Credentials of each kind whose verification is remembered. Valid and invalid ones are counted separately.
   */
  authCacheEntries: 20_000,
  /**
   * Credentials of each kind that are remembered in plain form, and for how long: at most twice that time.
   */
  maxRecentCredentials: 10_000,
  recentCredentialMs: 1000,
  /** A refused password or key is checked again after this time. */
  refusedCacheTtlMs: 5 * 60_000,
  /**
   * Passwords (Argon2id, about 50 ms of CPU each) that wait for their check, separately for clients without
   * and with a wrong password. Above it 503 for the client or the name with most of them.
   */
  maxPendingPasswordChecks: 64,
  /**
   * Keys of SQL clients (PBKDF2, about 2 ms of CPU each) that wait to be derived; above it, and for those
   * that wait longer, 53300. All connections that are not signed in yet can wait.
   */
  maxPendingKeyDerivations: 512,
  maxKeyDerivationWaitMs: 5000,
  /** New passwords that wait to be hashed; above it 503 for the tenant with most of them. */
  maxPendingPasswordHashes: 64,
  /**
   * How long a client that sent a wrong password waits behind the others, and how many such
   * clients are remembered.
   */
  suspectedClientMs: 10 * 60_000,
  maxSuspectedClients: 20_000,
  /**
   * Addresses in X-Forwarded-For or Forwarded that are looked at, from the end. Nobody has as many proxies.
   */
  maxForwardedAddresses: 16,
  /**
   * Pending checks of one kind of credentials, for instance of tokens that wait for the
   * provider's keys; above it 503.
   */
  maxPendingChecks: 256,
  /** The same for one client, so that others get in while one sends tokens with unknown keys. */
  maxPendingChecksPerClient: 192,
  /** A refused token is checked again after this time: its key may have been unknown. */
  refusedTokenTtlMs: 10_000,
  /** Timeout and size of a reply of the identity provider. Keys and metadata take some KiB. */
  oidcTimeoutMs: 5000,
  maxOidcReplyBytes: 1 * MiB,
  /** Sign-ins whose code is being redeemed at the provider, of all clients and of one; above it 503. */
  maxPendingLogins: 64,
  maxPendingLoginsPerClient: 16,
  /** The age at which the provider's metadata is fetched again, and the pause after a failed fetch. */
  oidcMetadataMaxAgeMs: 60 * 60_000,
  oidcRetryIntervalMs: 2000,
  /**
   * The age at which the provider's keys are fetched again, and the pause before an unknown key
   * causes another fetch.
   */
  oidcKeysMaxAgeMs: 10 * 60_000,
  oidcKeysCooldownMs: 10_000,
  /** How much the clocks of the provider and the service may differ. */
  oidcClockSkewMs: 30_000,
  /** Role and group names in a token that are looked at. */
  maxRolesPerToken: 1000,
  /** How long a browser sign-in may take, from the redirect to the callback. */
  loginLifetimeMs: 10 * 60_000,
  /** The lifetime of a session, and the number of sessions; above it the least recently used one ends. */
  sessionLifetimeMs: 60 * 60_000,
  maxSessions: 10_000,
  /** The lifetime of a session that a password or an API key began: the working day of a person. */
  passwordSessionLifetimeMs: 12 * 60 * 60_000,
  /** The body of a sign-in, which anybody may send: a name, a password and a tenant. */
  maxSignInBodyBytes: 8 * KiB,
  /** Sessions of one user; above it the oldest one ends. */
  maxSessionsPerUser: 100,
  /** The address to return to after a sign-in, which travels in a cookie. */
  maxReturnPathLength: 1000,

  /** Roles, users or API keys of a tenant. Each node holds them in memory. */
  maxRolesPerTenant: 1000,
  maxUsersPerTenant: 10_000,
  maxApiKeysPerTenant: 100_000,
  /** Users of an identity provider, including removed ones; above it no more are listed. */
  maxOauthUsersPerTenant: 100_000,
  maxPrivilegesPerRole: 1000,
  maxRolesPerIdentity: 100,
  /**
   * Privileges that the roles of an identity grant together, and the characters of their datasets and tags.
   * Each new query looks at them, and all that restrict a reader on a dataset are part of its SQL.
   */
  maxPrivilegesPerIdentity: 2000,
  maxPrivilegesLengthPerIdentity: 256 * KiB,
  /**
   * All roles of a tenant, in characters plus a fixed amount per privilege. Each node holds them in memory,
   * and one reply lists them.
   */
  maxRolesLengthPerTenant: 4 * MiB,
  privilegeOverheadLength: 64,
  /**
   * Privileges in arrays that are shared by identities with the same roles. Above it each
   * identity has its own array.
   */
  maxSharedPrivilegesPerTenant: 100_000,
  identityNameMaxLength: 128,
  /** `field=value` of a privilege. */
  maxTagLength: 1000,
  /**
   * The body of a request about roles, users or keys, which is parsed on the event loop. The
   * largest role fits in.
   */
  maxIdentityBodyBytes: 512 * KiB,
  /** The body of a request about a dataset. The largest fixed schema fits in. */
  maxDatasetBodyBytes: 2 * MiB,
  /**
   * Pending changes of roles, users and keys, some 20 ms each; above it 503 for the tenant with most of them.
   */
  maxPendingChanges: 256,
  /** The same for changes of the retention and the limits of datasets, some 100 ms each. */
  maxPendingDatasetChanges: 64,
  /** Callers that wait for the same change of a dataset: the last one takes the place of all before it. */
  maxCallersPerDatasetChange: 1000,
  /** A change that has not begun after this time gets 503. One under way takes some seconds at the most. */
  maxChangeWaitMs: 10_000,
  /**
   * How often a node reads the changes of other nodes; a change takes effect there after this time at the
   * latest.
   */
  metadataPollIntervalMs: 1000,
  /**
   * How long a node trusts its copy of users, keys and roles while it cannot read. A deletion waits this long
   * for a node that vanished without notice.
   */
  identityLeaseMs: 5 * 60_000,
  /** How often a deletion checks whether the other nodes know of it. */
  caughtUpPollMs: 200,
  /**
   * A node that has not reported for two leases plus this is not waited for any more. By the store's
   * clock, which may jump.
   */
  nodeGoneMs: 60_000,
  /** How long a stop tries to tell the other nodes, which otherwise wait for this one. */
  nodeLeaveWaitMs: 2000,
  /** Audit rows that wait while the log takes nothing, and how often it is tried. */
  maxWaitingAuditRows: 1000,
  /**
   * The same for refused requests, and for anonymous ones among them: neither may push out the rows about
   * changes.
   */
  maxWaitingDenialRows: 500,
  maxWaitingAnonymousDenialRows: 100,
  auditRetryMs: 1000,
  /**
   * Log lines and audit rows about refused requests of known identities, per second and tenant. Further ones
   * are counted in the next one.
   */
  maxDenialLinesPerSecond: 20,
  /** The same for all tenants together. */
  maxDenialLinesPerSecondInAll: 200,
  /**
   * The same for anonymous requests, which anybody can send for months: a few at once, and then as many per
   * second as come to 100 MB of log per day, for all tenants together.
   */
  maxAnonymousDenialLines: 20,
  maxAnonymousDenialLinesPerSecond: 1,
  maxAnonymousDenialLinesInAll: 100,
  maxAnonymousDenialLinesPerSecondInAll: 5,
} as const;
