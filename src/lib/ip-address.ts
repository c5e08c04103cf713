import { BlockList, isIP, isIPv4, isIPv6, SocketAddress } from 'node:net';

/**
 * The canonical form of an IP address: IPv6 in lower case with the longest run of zeros compressed (RFC
 * 5952), and an IPv4-mapped address as IPv4.
 * @returns undefined for anything else, including an address with a zone, which means nothing on another
 *   machine
 */
export function normalAddress(text: string): string | undefined {
  if (isIPv4(text)) return text;
  if (!isIPv6(text) || text.includes('%')) return undefined;
  const { address } = new SocketAddress({ address: text, family: 'ipv6' });
  const mapped = address.startsWith(mappedPrefix) ? address.slice(mappedPrefix.length) : '';
  return isIPv4(mapped) ? mapped : address;
}

const mappedPrefix = '::ffff:';

/** 16-bit groups of the IPv6 prefix that a provider assigns to one customer (RFC 6177). */
const customerGroups = 4;

/**
 * What identifies a client: its IPv4 address, or the /64 network of its IPv6 address, in which it
 * can use any address.
 * @param address from `normalAddress`; any other text is returned as it is
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

/** Whether a host, as somebody writes it into an option, is reached from this machine alone. */
export const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '::1' || /^127\.\d+\.\d+\.\d+$/.test(normalAddress(host) ?? host);

/** IPv4 and IPv6 networks. */
export type Networks = BlockList;

/**
 * Parses networks in CIDR notation and single addresses, separated by commas:
 * `10.0.0.0/8, 2001:db8::/32, 192.0.2.7`.
 * @returns undefined if one of them is invalid
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

/** Whether an address from `normalAddress` is in one of the networks. */
export const isWithin = (networks: Networks, address: string): boolean =>
  networks.check(address, isIPv4(address) ? 'ipv4' : 'ipv6');
