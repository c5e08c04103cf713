import { BlockList, isIPv4, isIPv6 } from 'node:net';

/**
 * Addresses that lead to a special place and not to somebody's public host: the registries of the IANA
 * (RFC 6890; iana.org/assignments/iana-ipv4-special-registry and iana-ipv6-special-registry), multicast, what
 * is reserved, and the platform addresses of clouds that lie in public ranges.
 */

const specialIPv4: ReadonlyArray<readonly [network: string, bits: number]> = [
  // This network
  ['0.0.0.0', 8],
  // Private
  ['10.0.0.0', 8],
  ['172.16.0.0', 12],
  ['192.168.0.0', 16],
  // Behind a provider's NAT
  ['100.64.0.0', 10],
  // Loopback, link-local with the metadata of clouds
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  // Protocol assignments, documentation, benchmarks
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['198.18.0.0', 15],
  // AS112, AMT, relays of 6to4
  ['192.31.196.0', 24],
  ['192.52.193.0', 24],
  ['192.175.48.0', 24],
  ['192.88.99.0', 24],
  // Azure's platform services
  ['168.63.129.16', 32],
  // Multicast, reserved, broadcast
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
];

/** Of the addresses in `globalUnicast`. */
const specialIPv6: ReadonlyArray<readonly [network: string, bits: number]> = [
  // Protocol assignments, with Teredo (2001::/32), benchmarks and ORCHID
  ['2001::', 23],
  // Documentation
  ['2001:db8::', 32],
  ['3fff::', 20],
  // 6to4: holds an IPv4 address
  ['2002::', 16],
  // AS112
  ['2620:4f:8000::', 48],
];

/**
 * The only part of IPv6 that is assigned to hosts of the public network. Outside of it are loopback, private
 * (fc00::/7) and link-local addresses, multicast, and the forms that hold an IPv4 address: `::a.b.c.d`,
 * `::ffff:a.b.c.d`, and NAT64's 64:ff9b::/96 and 64:ff9b:1::/48.
 */
const globalUnicast = { network: '2000::', bits: 3 } as const;

const special = new BlockList();
for (const [network, bits] of specialIPv4) special.addSubnet(network, bits, 'ipv4');
for (const [network, bits] of specialIPv6) special.addSubnet(network, bits, 'ipv6');
const hosts = new BlockList();
hosts.addSubnet(globalUnicast.network, globalUnicast.bits, 'ipv6');

/** @param address from `normalAddress`: any other text counts as special */
export function isSpecialAddress(address: string): boolean {
  if (isIPv4(address)) return special.check(address, 'ipv4');
  return !isIPv6(address) || !hosts.check(address, 'ipv6') || special.check(address, 'ipv6');
}
