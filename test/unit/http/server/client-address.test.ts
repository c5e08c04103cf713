import { describe, expect, it } from 'vitest';
import { clientAddress } from '../../../../src/http/server/client-address.ts';
import { parseNetworks } from '../../../../src/lib/ip-address.ts';
import { limits } from '../../../../src/limits/limits.ts';

const trusted = parseNetworks('10.0.0.0/8, 2001:db8:ffff::/48');
const proxy = '10.0.0.1';

const xff = (forwardedFor: string, peer = proxy) =>
  clientAddress(peer, { forwardedFor, forwarded: '' }, trusted);
const standard = (forwarded: string, peer = proxy) =>
  clientAddress(peer, { forwardedFor: '', forwarded }, trusted);

describe('the address of a client', () => {
  it('is that of the peer, whatever it says, where no proxy is trusted, or not this one', () => {
    const headers = { forwardedFor: '192.0.2.1', forwarded: 'for=192.0.2.1' };
    expect(clientAddress(proxy, headers, undefined)).toBe(proxy);
    expect(clientAddress('198.51.100.1', headers, trusted)).toBe('198.51.100.1');
    expect(clientAddress('', headers, trusted)).toBe('');
    expect(clientAddress('0000:0000:0000:0000:0000:0000:0000:0001', headers, trusted)).toBe('::1');
  });

  it.each([
    ['192.0.2.1', '192.0.2.1'],
    ['spoofed, 192.0.2.1', '192.0.2.1'],
    ['10.9.9.9, 192.0.2.1', '192.0.2.1'],
    ['1.1.1.1, 192.0.2.1, 10.0.0.2,10.0.0.3', '192.0.2.1'],
    ['192.0.2.1:4711', '192.0.2.1'],
    ['2001:DB8:0::1', '2001:db8::1'],
    ['[2001:db8::1]:443', '2001:db8::1'],
    ['2001:db8::1, 2001:db8:ffff::7', '2001:db8::1'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
    // All are proxies: the first that asked.
    ['10.0.0.3, 10.0.0.2', '10.0.0.3'],
    // What cannot be read ends the way.
    ['garbage', proxy],
    ['192.0.2.1, unknown', proxy],
    ['192.0.2.1,', proxy],
    [',', proxy],
    ['192.0.2.1, unknown, 10.0.0.2', '10.0.0.2'],
    [`192.0.2.1, ${'9'.repeat(10_000)}`, proxy],
  ])('is the last of X-Forwarded-For that is no proxy: %j', (header, address) => {
    expect(xff(header)).toBe(address);
  });

  it.each([
    ['for=192.0.2.1', '192.0.2.1'],
    ['For="192.0.2.1:4711";proto=https;by=10.0.0.1', '192.0.2.1'],
    ['proto=http; for="[2001:db8::1]:80"', '2001:db8::1'],
    ['for="[2001:db8::1]"', '2001:db8::1'],
    ['for=1.1.1.1, for=192.0.2.1, for=10.0.0.2', '192.0.2.1'],
    ['for=_hidden', proxy],
    ['for=unknown', proxy],
    ['for=192.0.2.1;for=192.0.2.2', proxy],
    ['by=10.0.0.1', proxy],
    ['192.0.2.1', proxy],
    ['for="192.0.2.1', proxy],
    // Whatever somebody put into quotes of their own is not taken for an element.
    ['for="a, for=192.0.2.1", for=192.0.2.9', '192.0.2.9'],
  ])('is the last of Forwarded that is no proxy: %j', (header, address) => {
    expect(standard(header)).toBe(address);
  });

  it('is not read from two headers that say different things: the proxy wrote one of them alone', () => {
    const both = (forwardedFor: string, forwarded: string) =>
      clientAddress(proxy, { forwardedFor, forwarded }, trusted);
    expect(both('192.0.2.1', 'for=192.0.2.1')).toBe('192.0.2.1');
    expect(both('192.0.2.1', 'for=192.0.2.2')).toBe(proxy);
    expect(both('192.0.2.1', 'for=_hidden')).toBe(proxy);
  });

  it('is looked for in so many addresses and no more', () => {
    const many = `192.0.2.1${',10.0.0.2'.repeat(limits.maxForwardedAddresses)}`;
    expect(xff(many)).toBe('10.0.0.2');
    expect(xff(many.replace(',10.0.0.2', ''))).toBe('192.0.2.1');
  });
});
