import { AuditLog, type AuditRows } from '../audit/audit-log.ts';
import { Authorizer } from '../auth/authorizer.ts';
import { administratorAccount, PasswordIdentities } from '../auth/identity-sources.ts';
import { PasswordChecks } from '../auth/password-checks.ts';
import { SecretBox } from '../auth/secret-box.ts';
import type { TenantHolder } from '../catalog/tenant-cleaner.ts';
import type { Tenants } from '../catalog/tenants.ts';
import { Lease } from '../cluster/lease.ts';
import { type Followed, MetadataFollower } from '../cluster/metadata-follower.ts';
import type { OidcConfig } from '../config/oidc-options.ts';
import type { Owner } from '../documents/document.ts';
import { UserAccount } from '../identity/accounts.ts';
import { ApiKeyAdministration, ApiKeyIdentities } from '../identity/api-keys.ts';
import { IdentityStore } from '../identity/identity-store.ts';
import { subjectOf } from '../identity/names.ts';
import { OauthUsers, type OauthUsersOptions } from '../identity/oauth-users.ts';
import { RoleAdministration } from '../identity/roles.ts';
import { ScramAccounts } from '../identity/scram-accounts.ts';
import { Sessions } from '../identity/sessions.ts';
import { TenantAdministration } from '../identity/tenant-administration.ts';
import { UserAdministration } from '../identity/users.ts';
import { loadOrCreateSecret } from '../lib/data-directory.ts';
import { limits } from '../limits/limits.ts';
import { defaultTenant } from '../model/dataset.ts';
import type { Principal } from '../model/identity.ts';
import type { AppContext } from './app-context.ts';
import type { Oidc, OidcParts } from './create-oidc.ts';
import type { StoreParts } from './start-store.ts';

/**
 * Starts the three sources of identities: the administrator from the configuration, the users and API keys
 * that administrators created, and the users of an identity provider.
 */
export async function startIdentities(
  context: AppContext,
  { metadata, registry, tenants, cleaner, catalog }: StoreParts,
  adminPassword: string,
  trail: AuditRows,
  newestSegment: () => number,
  followed: readonly Followed[],
) {
  const { config, directory: dataDirectory, clock, log } = context;
  const box = new SecretBox(config.secret ?? (await loadOrCreateSecret(dataDirectory.path)));
  const { adminUsername: root, multiTenant } = config;
  const administrator = administratorAccount(root, adminPassword);
  const lease =
    config.clickhouseUrl &&
    new Lease({
      registry,
      leaseMs: config.identityLeaseMs,
      position: () => ({
        identities: identityStore.position,
        tenants: tenants.position,
        datasets: catalog.datasets.position,
        segment: newestSegment(),
      }),
      timers: clock,
    });
  const stopping = new AbortController();
  const caughtUp = async () => lease?.caughtUp(stopping.signal);
  const forgetRefused = () => authorizer.forgetRefused();
  const identityStore: IdentityStore = new IdentityStore(metadata, tenants, forgetRefused, caughtUp);
  const passwords = new PasswordIdentities(
    (tenant, name) => (name === root ? administrator : identityStore.user(tenant, name)),
    new PasswordChecks(),
    (account, password) => {
      if (!(account instanceof UserAccount)) return;
      users.keepVerifier(account, password).catch((error: unknown) => {
        log.warn({ err: error, user: account.name }, 'the sign-in over the wire protocol was not prepared');
      });
    },
  );
  const audit = new AuditLog(log, clock, trail);
  const oauthUsers = createOauthUsers(config.oidc, { identityStore, tenants, clock, log });
  const users = new UserAdministration(identityStore, root, oauthUsers);
  const apiKeys = new ApiKeyAdministration(identityStore, box, clock);
  const lifetimeMs = config.oidc?.sessionLifetimeMs ?? limits.sessionLifetimeMs;
  const sessions = new Sessions(oauthUsers, clock, lifetimeMs);
  const oidc = config.oidc && (await startOidc(config.oidc, { context, oauthUsers, box, audit, sessions }));
  const keys = new ApiKeyIdentities(identityStore, box);
  const sources = [passwords, keys, sessions, ...(oidc?.sources ?? [])];
  const authorizer = new Authorizer(sources, clock, () => lease?.requireCurrent());
  const follower = new MetadataFollower({
    identityStore,
    catalog,
    followed,
    storeReady: () => catalog.loaded,
    lease,
    timers: clock,
    log,
  });
  await follower.start();
  const administered = { tenants, cleaner, clock };
  const administrations = {
    roles: new RoleAdministration(identityStore),
    users,
    apiKeys,
    tenants: new TenantAdministration({ ...administered, multiTenant, caughtUp }),
  };
  /**
   * The present principal of who made something; undefined if they do not exist any more.
   * @throws AppError `store_unavailable`, `forbidden` (`Grants.of`)
   */
  const principalOf = (tenant: string, { kind, name, id }: Owner): Principal | undefined => {
    if (kind === 'root') return administrator.principal;
    lease?.requireCurrent();
    if (kind === 'user') return identityStore.user(tenant, name)?.principal;
    if (kind === 'apiKey') return identityStore.apiKey(tenant, name)?.principal;
    const subject = subjectOf(id ?? '');
    return subject === undefined ? undefined : oauthUsers.principalOf(tenant, subject);
  };
  const stop = async (): Promise<void> => {
    stopping.abort();
    await follower.stop();
  };
  // Runs last: a node that has not read about the deletion yet still needs these entries of the metadata log.
  const metadataOfTenants: TenantHolder = {
    forgetEnded: async (hasEnded) => {
      await caughtUp();
      await metadata.removeEnded(hasEnded);
    },
  };
  return {
    authorizer,
    box,
    identityStore,
    metadataOfTenants,
    caughtUp,
    principalOf,
    administrations,
    scramAccounts: new ScramAccounts({
      identityStore,
      apiKeys,
      administrator: { name: root, password: adminPassword, identity: administrator },
    }),
    login: oidc?.login,
    sessions,
    audit,
    stop,
  };
}

/**
 * Exists even if no provider is configured any more, so that earlier users are still listed and can be
 * removed.
 */
export function createOauthUsers(
  config: OidcConfig | undefined,
  { tenants, ...parts }: Omit<OauthUsersOptions, 'tenantOf'> & { readonly tenants: Pick<Tenants, 'idOf'> },
): OauthUsers {
  const tenantOf = (claimed: string | undefined): string | undefined => {
    if (config?.tenantClaim === undefined) return defaultTenant;
    return claimed === undefined ? undefined : tenants.idOf(claimed);
  };
  return new OauthUsers({ ...parts, tenantOf });
}

/** Loaded only if a provider is configured: its libraries take a tenth of the CPU time of a start. */
async function startOidc(config: OidcConfig, parts: OidcParts): Promise<Oidc> {
  const { createOidc } = await import('./create-oidc.ts');
  return createOidc(config, parts);
}
