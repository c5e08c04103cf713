import { describe, expect, it } from 'vitest';
import { clientNetwork, isWithin, normalAddress, parseNetworks } from '../../../src/lib/ip-address.ts';

describe('an IP address', () => {
  it.each([
    ['192.0.2.1', '192.0.2.1'],
    ['0000:0000:0000:0000:0000:0000:0000:0001', '::1'],
    ['2001:0DB8:0000:0000:0001:0000:0000:0001', '2001:db8::1:0:0:1'],
    ['0000:0000:0000:0000:0000:ffff:c000:0201', '192.0.2.1'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
  ])('has one usual form: %s', (text, normal) => {
    expect(normalAddress(text)).toBe(normal);
  });

  it.each([
    '',
    'localhost',
    '192.0.2',
    '192.0.2.256',
    '192.0.2.01',
    'fe80::1%eth0',
    '::ffff:1.2.3',
    '1.2.3.4:5',
  ])('is not %j', (text) => {
    expect(normalAddress(text)).toBeUndefined();
  });

  it.each([
    ['192.0.2.1', '192.0.2.1'],
    ['::1', '0:0:0:0::/64'],
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:db8:1:2:3::', '2001:db8:1:2::/64'],
    ['2001:db8:0:1::9', '2001:db8:0:1::/64'],
    ['::2:3:4:5:6:7', '0:0:2:3::/64'],
    ['', ''],
  ])('is known by its network: %s', (address, network) => {
    expect(clientNetwork(address)).toBe(network);
  });
});

describe('networks', () => {
  it('are those of a list', () => {
    const networks = parseNetworks('10.0.0.0/8, 2001:db8::/32,192.0.2.7');
    if (networks === undefined) throw new Error('refused');
    const within = (address: string) => isWithin(networks, address);
    expect(['10.255.0.1', '2001:db8:1::1', '192.0.2.7'].map(within)).toEqual([true, true, true]);
    expect(['11.0.0.1', '2001:db9::1', '192.0.2.8', '::1'].map(within)).toEqual([false, false, false, false]);
  });

  it.each([
    '',
    ',',
    '10.0.0.0/33',
    '10.0.0.0/',
    '10.0.0.0/8/8',
    '::/129',
    '10.0.0/8',
    '10.0.0.0/-1',
    'proxy',
    '10.0.0.0/8,',
  ])('are not %j', (text) => {
    expect(parseNetworks(text)).toBeUndefined();
  });
});
