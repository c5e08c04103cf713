import { createHmac, randomBytes } from 'node:crypto';
import type { Identity } from '../auth/identity-sources.ts';
import { makeVerifier, readVerifier, type ScramVerifier, verifierOfNobody } from '../auth/scram.ts';
import type { CancelSignal } from '../lib/cancellation.ts';
import { FairExecutor } from '../lib/fair-executor.ts';
import { clientNetwork, normalAddress } from '../lib/ip-address.ts';
import { limits } from '../limits/limits.ts';
import type { Principal } from '../model/identity.ts';
import type { ApiKeyAccount } from './accounts.ts';
import type { ApiKeyAdministration } from './api-keys.ts';
import type { IdentityStore } from './identity-store.ts';

export interface ScramAccountsParts {
  readonly identityStore: IdentityStore;
  readonly apiKeys: Pick<ApiKeyAdministration, 'secretOf'>;
  /** The administrator of the configuration. */
  readonly administrator: { readonly name: string; readonly password: string; readonly identity: Identity };
}

/** Who asks for an account. */
export interface ScramClient {
  readonly address: string;
  /** Aborted when the client is gone: nothing is derived for it any more. */
  readonly closed: CancelSignal;
}

/** Who signs in with a name, and what proves that they know the secret. */
export interface ScramAccount {
  readonly verifier: ScramVerifier;
  /** The current principal; undefined if no account has the name, or its credentials are invalid. */
  principal(): Principal | undefined;
}

/**
 * Accounts that sign in with SCRAM: the administrator and users with their passwords, API keys with their
 * values. A name is looked up as that of a user, then as that of an API key, then as the id of an API key.
 *
 * Of a user there is a verifier since the password was made, or since the first sign-in over HTTP; before
 * that, and for names that nobody has, no password is right.
 *
 * Each sign-in derives a key, in a thread of libuv's pool, which the write-ahead log needs for fdatasync. So
 * one is derived at a time, and the networks of clients take turns: a flood from one holds up itself.
 */
export class ScramAccounts {
  readonly #parts: ScramAccountsParts;
  readonly #key = randomBytes(32);
  readonly #derivations: FairExecutor;

  /** @param maxWaiting derivations that wait, of all networks */
  constructor(parts: ScramAccountsParts, maxWaiting: number = limits.maxPendingKeyDerivations) {
    this.#parts = parts;
    const refusal = 'too many SQL clients are signing in';
    this.#derivations = new FairExecutor(maxWaiting, refusal, limits.maxKeyDerivationWaitMs);
  }

  /**
   * Costs the derivation of one key, whoever it is: the time does not tell which names there are.
   * @throws AppError `overloaded`, `store_unavailable`, `secret_changed`; the reason, if the client is gone
   */
  find(tenant: string, name: string, { address, closed }: ScramClient): Promise<ScramAccount> {
    const network = clientNetwork(normalAddress(address) ?? address);
    return this.#derivations.run(network, async () => {
      closed.throwIfAborted();
      return await this.#derive(tenant, name);
    });
  }

  async #derive(tenant: string, name: string): Promise<ScramAccount> {
    const { administrator, identityStore, apiKeys } = this.#parts;
    const salt = createHmac('sha256', this.#key).update(`${tenant}/${name}`).digest().subarray(0, 16);
    if (name === administrator.name) {
      const verifier = await makeVerifier(administrator.password, salt);
      return { verifier, principal: () => administrator.identity.principal };
    }
    const user = identityStore.user(tenant, name);
    const key = user === undefined ? findKey(identityStore, tenant, name) : undefined;
    const made = await makeVerifier(key === undefined ? '' : apiKeys.secretOf(tenant, key), salt);
    if (key !== undefined) return { verifier: made, principal: () => key.principal };
    const kept = user?.value.scramVerifier;
    const verifier =
      (kept === undefined ? undefined : readVerifier(kept)) ?? verifierOfNobody(this.#key, salt);
    return { verifier, principal: () => user?.principal };
  }
}

const findKey = (store: IdentityStore, tenant: string, name: string): ApiKeyAccount | undefined =>
  store.apiKey(tenant, name) ?? store.apiKeyById(tenant, name);
