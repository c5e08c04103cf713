import { lookup } from 'node:dns/promises';
import { AppError, errorText } from '../errors.ts';
import { isWithin, type Networks, normalAddress } from '../lib/ip-address.ts';
import { limits } from '../limits/limits.ts';
import { isSpecialAddress } from './special-addresses.ts';

/** Finds all addresses of a host name. */
export type Resolver = (host: string) => Promise<readonly string[]>;

/** As the system does it, with `/etc/hosts`. */
export const systemResolver: Resolver = async (host) =>
  (await lookup(host, { all: true, verbatim: true })).map(({ address }) => address);

/**
 * Decides which addresses the targets of tenants may lead to. A tenant chooses the URL, and the service is
 * in the operator's network: without this, it could be used to reach what only this network can reach
 * (server-side request forgery).
 *
 * - A host name is resolved once, every address is checked, and the connection is made to these addresses
 *   alone: what the name server says a moment later (DNS rebinding) changes nothing.
 * - One special address is enough to refuse the name.
 * - A connection checks again, since names change.
 * - The operator's configuration names networks that are allowed nevertheless. A tenant cannot.
 */
export class AddressGuard {
  readonly #allowed: Networks | undefined;
  readonly #resolve: Resolver;

  /** @param allowed networks that are allowed though they are special */
  constructor(allowed: Networks | undefined, resolve: Resolver = systemResolver) {
    this.#allowed = allowed;
    this.#resolve = resolve;
  }

  /**
   * The addresses that a URL leads to.
   * @returns in their canonical form, all of them checked
   * @throws AppError `target_refused`, or `target_unreachable` if the name has no address or is not resolved
   *   in time
   */
  async addressesOf(url: URL): Promise<readonly string[]> {
    const host = hostOf(url);
    const literal = normalAddress(host);
    const addresses = literal === undefined ? await this.#resolveInTime(host) : [literal];
    for (const address of addresses) this.#check(url, address);
    return addresses;
  }

  /** Whether all these addresses, from `addressesOf`, are in networks of the operator's list. */
  areListed(addresses: readonly string[]): boolean {
    const allowed = this.#allowed;
    return allowed !== undefined && addresses.every((address) => isWithin(allowed, address));
  }

  #check(url: URL, address: string): void {
    const normal = normalAddress(address);
    if (normal !== undefined && this.#allowed !== undefined && isWithin(this.#allowed, normal)) return;
    if (normal !== undefined && !isSpecialAddress(normal)) return;
    throw new AppError(
      'target_refused',
      `${url.host} leads to a private, local or other special address; the operator can allow its network with MILLRACE_TARGET_ALLOWED_NETWORKS`,
    );
  }

  async #resolveInTime(host: string): Promise<readonly string[]> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      const error = new AppError('target_unreachable', `the name ${host} was not resolved in time`);
      timer = setTimeout(() => reject(error), limits.targetResolveMs);
      timer.unref();
    });
    try {
      const addresses = await Promise.race([this.#resolve(host), late]);
      if (addresses.length > 0)
        return addresses.slice(0, limits.maxTargetAddresses).map((each) => normalAddress(each) ?? each);
    } catch (error) {
      if (error instanceof AppError) throw error;
      throw new AppError('target_unreachable', `the name ${host} cannot be resolved: ${errorText(error)}`);
    } finally {
      clearTimeout(timer);
    }
    throw new AppError('target_unreachable', `the name ${host} has no address`);
  }
}

/** Without the brackets of an IPv6 address. The URL parser has made all spellings of IPv4 one. */
const hostOf = ({ hostname }: URL): string => (hostname.startsWith('[') ? hostname.slice(1, -1) : hostname);
