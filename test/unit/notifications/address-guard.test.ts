import { describe, expect, it } from 'vitest';
import { parseNetworks } from '../../../src/lib/ip-address.ts';
import { AddressGuard, type Resolver } from '../../../src/notifications/address-guard.ts';
import { rejectedError } from '../../support/lib/caught.ts';

const noNames: Resolver = async (host) => {
  throw new Error(`${host} is asked for`);
};
const guard = new AddressGuard(undefined, noNames);
const code = async (of: AddressGuard, url: string) =>
  (await rejectedError(of.addressesOf(new URL(url)))).code;

/** One host of each special range, and the ends of those that are cut in odd places. */
const special = [
  [
    '0.0.0.0',
    '0.255.255.255',
    '10.0.0.1',
    '10.255.255.255',
    '100.64.0.0',
    '100.127.255.255',
    '100.100.100.200',
  ],
  ['127.0.0.1', '127.255.255.254', '169.254.169.254', '169.254.0.0', '172.16.0.0', '172.31.255.255'],
  ['192.0.0.1', '192.0.0.192', '192.0.2.7', '192.31.196.1', '192.52.193.1', '192.88.99.1', '192.168.0.1'],
  ['192.175.48.1', '198.18.0.0', '198.19.255.255', '198.51.100.9', '203.0.113.9', '168.63.129.16'],
  ['224.0.0.1', '239.255.255.255', '240.0.0.1', '255.255.255.255'],
  [
    '[::]',
    '[::1]',
    '[0:0:0:0:0:0:0:1]',
    '[::7f00:1]',
    '[::10.0.0.1]',
    '[::ffff:10.0.0.1]',
    '[::ffff:7f00:1]',
  ],
  ['[::ffff:0:127.0.0.1]', '[0:0:0:0:0:ffff:169.254.169.254]', '[64:ff9b::1]', '[64:ff9b::127.0.0.1]'],
  ['[64:ff9b::8.8.8.8]', '[64:ff9b:1::1]', '[100::1]', '[100:0:0:1::1]', '[2001::1]', '[2001:2::1]'],
  ['[2001:10::1]', '[2001:20::1]', '[2001:db8::1]', '[2002:7f00:1::1]', '[2002:a00:1::]', '[3fff::1]'],
  ['[2620:4f:8000::1]', '[5f00::1]', '[fc00::1]', '[fd00:ec2::254]', '[fdff::1]', '[fe80::1]', '[feb0::1]'],
  ['[fec0::1]', '[ff02::1]', '[ff0e::1]', '[4000::1]', '[1fff::1]'],
].flat();

/** Other spellings of 127.0.0.1, 10.0.0.1 and 169.254.169.254 that clients of HTTP understand. */
const spellings = [
  ['127.1', '127.0.1', '2130706433', '0x7f000001', '0x7F.0.0.1', '0177.0.0.1', '017700000001', '0x7f.1'],
  ['127.0.0.1.', '%31%32%37.0.0.1', '１２７.0.0.1', '127。0。0。1', '①②⑦.0.0.1'],
  ['10.1', '167772161', '012.0.0.1', '0xa.0.0.1', '0xa9fea9fe', '2852039166', '169.16689662'],
  ['[::FFFF:127.0.0.1]', '[::ffff:7F00:0001]', '[0000:0000:0000:0000:0000:ffff:7f00:0001]', '0', '0x0'],
].flat();

const publicHosts = [
  ['1.1.1.1', '8.8.8.8', '9.255.255.255', '11.0.0.0', '100.63.255.255', '100.128.0.0', '126.255.255.255'],
  ['128.0.0.1', '169.253.0.1', '169.255.0.1', '172.15.255.255', '172.32.0.0', '192.0.1.1', '192.167.255.255'],
  ['192.169.0.1', '198.17.255.255', '198.20.0.0', '223.255.255.255', '134744072', '0x08080808'],
  ['[2606:4700:4700::1111]', '[2a00:1450::1]', '[2001:200::1]', '[2003::1]', '[::ffff:8.8.8.8]'],
].flat();

describe('the address of a target', () => {
  it.each([...special, ...spellings])('%s is refused', async (host) => {
    for (const scheme of ['http', 'https'])
      expect(await code(guard, `${scheme}://${host}:8080/x`)).toBe('target_refused');
  });

  it.each(publicHosts)('%s is allowed', async (host) => {
    expect(await guard.addressesOf(new URL(`https://${host}/x`))).toHaveLength(1);
  });

  it('is refused if any address of its name is special', async () => {
    const resolving = (...addresses: string[]) => new AddressGuard(undefined, async () => addresses);
    const url = 'https://rebind.example/x';
    expect(await code(resolving('8.8.8.8', '10.0.0.1'), url)).toBe('target_refused');
    expect(await code(resolving('2606:4700::1', '::1'), url)).toBe('target_refused');
    expect(await code(resolving('8.8.8.8', 'fe80::1%eth0'), url)).toBe('target_refused');
    expect(await code(resolving('8.8.8.8', 'no address'), url)).toBe('target_refused');
    expect(await resolving('8.8.8.8', '2606:4700::1').addressesOf(new URL(url))).toEqual([
      '8.8.8.8',
      '2606:4700::1',
    ]);
  });

  it('is not known if its name cannot be resolved, or has no address', async () => {
    const url = 'https://gone.example/x';
    expect(await code(guard, url)).toBe('target_unreachable');
    expect(await code(new AddressGuard(undefined, async () => []), url)).toBe('target_unreachable');
  });

  it('is allowed in the networks of the operator, in each of their spellings', async () => {
    const allowed = new AddressGuard(parseNetworks('10.1.0.0/16, 127.0.0.1, fd00:1::/32'), noNames);
    for (const host of ['10.1.2.3', '127.1', '[::ffff:10.1.0.1]', '[fd00:1::7]']) {
      const addresses = await allowed.addressesOf(new URL(`http://${host}/`));
      expect(allowed.areListed(addresses)).toBe(true);
    }
    for (const host of ['10.2.0.1', '127.0.0.2', '[fd00:2::1]', '[64:ff9b::10.1.0.1]'])
      expect(await code(allowed, `http://${host}/`)).toBe('target_refused');
    expect(allowed.areListed(['8.8.8.8'])).toBe(false);
    expect(allowed.areListed(['10.1.2.3', '8.8.8.8'])).toBe(false);
    expect(guard.areListed(['8.8.8.8'])).toBe(false);
  });

  it('says what the operator can do', async () => {
    const error = await rejectedError(guard.addressesOf(new URL('http://127.0.0.1:9093')));
    expect(error.message).toContain('127.0.0.1:9093');
    expect(error.message).toContain('MILLRACE_TARGET_ALLOWED_NETWORKS');
  });
});
