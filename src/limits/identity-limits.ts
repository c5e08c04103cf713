/** Bounds on who asks and how it is known, with their reasons. Part of `limits`. */

const KiB = 1024;
const MiB = 1024 * KiB;

export const identityLimits = {
  /** Credentials whose verification is remembered: of each kind, good and bad ones counted separately. */
  authCacheEntries: 20_000,
  /** Credentials of each kind that are remembered as they were presented, and how long: twice that at most. */
  maxRecentCredentials: 10_000,
  recentCredentialMs: 1000,
  /** A refused password or key is checked again after this long. */
  refusedCacheTtlMs: 5 * 60_000,
  /**
   * Passwords (argon2id, about 50 ms of CPU each) that wait to be checked: of clients without a wrong
   * password, and of the others; above it 503 for those of the client, or for the name, with most.
   */
  maxPendingPasswordChecks: 64,
  /** New passwords that wait to be hashed; above it 503 for the tenant with most. */
  maxPendingPasswordHashes: 64,
  /**
   * How long a client from which a wrong password came waits behind the others, and how many are remembered.
   */
  suspectedClientMs: 10 * 60_000,
  maxSuspectedClients: 20_000,
  /** Addresses in X-Forwarded-For or Forwarded that are looked at, from the end; nobody has so many proxies. */
  maxForwardedAddresses: 16,
  /** Checks of one kind of credentials under way: of tokens, say, that wait for the identity provider's keys; above it 503. */
  maxPendingChecks: 256,
  /**
   * Of these, those of one client: others get in while one sends tokens that wait for keys that there are
   * not.
   */
  maxPendingChecksPerClient: 192,
  /** A refused token is checked again after this long: it may be signed with a key that was not known yet. */
  refusedTokenTtlMs: 10_000,
  /** How long a reply of the identity provider is waited for, and how large it may be: keys and claims take some KiB. */
  oidcTimeoutMs: 5000,
  maxOidcReplyBytes: 1 * MiB,
  /** Sign-ins whose code is being redeemed at the provider, of all clients and of one; above it 503. */
  maxPendingLogins: 64,
  maxPendingLoginsPerClient: 16,
  /** What the provider says about itself is read again after this long, and after a failure this soon. */
  oidcMetadataMaxAgeMs: 60 * 60_000,
  oidcRetryIntervalMs: 2000,
  /** The provider's keys are read again after this long; for a key that is not known, this soon after the last time. */
  oidcKeysMaxAgeMs: 10 * 60_000,
  oidcKeysCooldownMs: 10_000,
  /** How much the clocks of provider and service may differ. */
  oidcClockSkewMs: 30_000,
  /** Names of roles and groups in a token that are looked at. */
  maxRolesPerToken: 1000,
  /** How long a sign-in may take from the way to the provider to the way back. */
  loginLifetimeMs: 10 * 60_000,
  /** A sign-in is good for this long, and this many at the same time; above it the one that was used longest ago ends. */
  sessionLifetimeMs: 60 * 60_000,
  maxSessions: 10_000,
  /** Sign-ins of the same person at the same time; above it the oldest one of theirs ends. */
  maxSessionsPerUser: 100,
  /** The address to return to after a sign-in, which travels in a cookie. */
  maxReturnPathLength: 1000,

  /** All roles, users or API keys of a tenant: each node holds them in memory. */
  maxRolesPerTenant: 1000,
  maxUsersPerTenant: 10_000,
  maxApiKeysPerTenant: 100_000,
  /** Whoever came by way of the identity provider, and those that were removed since; beyond it nobody is listed. */
  maxOauthUsersPerTenant: 100_000,
  maxPrivilegesPerRole: 1000,
  maxRolesPerIdentity: 100,
  /**
   * Privileges that the roles of an identity grant together, and the characters of their datasets and tags:
   * each new query looks at them, and all that narrow a reader on a dataset are in its SQL.
   */
  maxPrivilegesPerIdentity: 2000,
  maxPrivilegesLengthPerIdentity: 256 * KiB,
  /**
   * All roles of a tenant, which each node holds in memory and one reply lists: characters, and so many for
   * each privilege.
   */
  maxRolesLengthPerTenant: 4 * MiB,
  privilegeOverheadLength: 64,
  /** Privileges in arrays that identities with the same roles share. Who has others makes one of its own. */
  maxSharedPrivilegesPerTenant: 100_000,
  identityNameMaxLength: 128,
  /** `field=value` of a privilege. */
  maxTagLength: 1000,
  /** Bodies about roles, users and keys, which are read on the event loop. The largest role fits in. */
  maxIdentityBodyBytes: 512 * KiB,
  /** Bodies about datasets: the most columns that one can be made with fit in. */
  maxDatasetBodyBytes: 2 * MiB,
  /** Changes of roles, users and keys that wait for their turn, some 20 ms each; above it 503 for the tenant with most. */
  maxPendingChanges: 256,
  /** How often a node looks for what other nodes have changed; a change takes effect there this much later. */
  metadataPollIntervalMs: 1000,
  /**
   * How long a node trusts what it has read of users, keys and roles while it cannot read on. A deletion waits this long
   * for a node that went without a word.
   */
  identityLeaseMs: 5 * 60_000,
  /** How often a deletion looks whether the other nodes know of it. */
  caughtUpPollMs: 200,
  /** A node that has said nothing for two leases and this is waited for no more: by the store's clock, which may jump. */
  nodeGoneMs: 60_000,
  /** How long a stop tries to tell the others, who otherwise wait for this node. */
  nodeLeaveWaitMs: 2000,
  /** Rows of the audit relation that wait for a log that takes nothing; and how often it is tried. */
  maxWaitingAuditRows: 1000,
  /**
   * Of these, about refusals, and about refusals of nobody who is known: neither may push out what was
   * changed.
   */
  maxWaitingDenialRows: 500,
  maxWaitingAnonymousDenialRows: 100,
  auditRetryMs: 1000,
  /**
   * Lines of the log, and rows of the audit relation, about refused requests of those who are known, a
   * second, for each tenant; what is beyond is counted in the next one.
   */
  maxDenialLinesPerSecond: 20,
  /** The same for all tenants together. */
  maxDenialLinesPerSecondInAll: 200,
  /**
   * The same about requests that nobody known has sent: anybody can go on with them for months, so there are
   * a few at once, and then as many a second as come to 100 MB of log a day, of all tenants together.
   */
  maxAnonymousDenialLines: 20,
  maxAnonymousDenialLinesPerSecond: 1,
  maxAnonymousDenialLinesInAll: 100,
  maxAnonymousDenialLinesPerSecondInAll: 5,
} as const;
