import { BlockList, isIP, isIPv4, isIPv6, SocketAddress } from 'node:net';

/**
 * An IP address in its one usual form: IPv6 in small letters and with its longest run of zeros left out (RFC
 * 5952), and one that stands for an IPv4 address as that.
 * @returns undefined for what is no address; one with a zone is none, since it means nothing on another machine
 */
export function normalAddress(text: string): string | undefined {
  if (isIPv4(text)) return text;
  if (!isIPv6(text) || text.includes('%')) return undefined;
  const { address } = new SocketAddress({ address: text, family: 'ipv6' });
  const mapped = address.startsWith(mappedPrefix) ? address.slice(mappedPrefix.length) : '';
  return isIPv4(mapped) ? mapped : address;
}

const mappedPrefix = '::ffff:';

/** Bits of an IPv6 address that a provider gives to one customer, who may take any of the rest (RFC 6177). */
const customerGroups = 4;

/**
 * What one client is known by: its IPv4 address, or the /64 network of its IPv6 address, in which it can have
 * as many addresses as it likes.
 * @param address as `normalAddress` gives it; any other text is its own
 */
export function clientNetwork(address: string): string {
  if (!isIPv6(address)) return address;
  const [head = '', tail] = address.split('::');
  const groups = head === '' ? [] : head.split(':');
  const last = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros = tail === undefined ? 0 : 8 - groups.length - last.length;
  const all = [...groups, ...Array<string>(Math.max(0, zeros)).fill('0'), ...last];
  return `${all.slice(0, customerGroups).join(':')}::/64`;
}

/** Networks of either family. */
export type Networks = BlockList;

/**
 * Networks in CIDR notation, or single addresses, with commas between them: `10.0.0.0/8, 2001:db8::/32,
 * 192.0.2.7`.
 * @returns undefined when one of them is none, or has a prefix that is too long
 */
export function parseNetworks(text: string): Networks | undefined {
  const networks = new BlockList();
  for (const each of text.split(',')) {
    const [address = '', prefix, ...rest] = each.trim().split('/');
    const family = isIP(address);
    const maxBits = family === 4 ? 32 : 128;
    const bits = prefix === undefined ? maxBits : /^\d{1,3}$/.test(prefix) ? Number(prefix) : Number.NaN;
    if (family === 0 || address.includes('%') || rest.length > 0 || !(bits <= maxBits)) return undefined;
    networks.addSubnet(address, bits, family === 4 ? 'ipv4' : 'ipv6');
  }
  return networks;
}

/** Whether an address, as `normalAddress` gives it, is in one of the networks. */
export const isWithin = (networks: Networks, address: string): boolean =>
  networks.check(address, isIPv4(address) ? 'ipv4' : 'ipv6');
