import { isWithin, type Networks, normalAddress } from '../../lib/ip-address.ts';
import { limits } from '../../limits/limits.ts';

/**
 * What proxies say about whom they ask for; a header that is not there is empty, and one sent in parts is
 * joined.
 */
export interface ForwardingHeaders {
  /** `X-Forwarded-For` */
  readonly forwardedFor: string;
  /** `Forwarded` (RFC 7239) */
  readonly forwarded: string;
}

export const notForwarded: ForwardingHeaders = { forwardedFor: '', forwarded: '' };

/**
 * The address of the client of a request.
 *
 * Anybody can send these headers, so they count only where the peer of the connection is a proxy that is
 * trusted, and then from their end: the last address was written by that proxy. Addresses of trusted proxies
 * are passed over, the first other one is the client's. What stands before it may be made up by the client.
 *
 * A proxy writes one of the two headers and hands on the other as it came. So where both are there and say
 * different things, neither is believed.
 *
 * @param peer of the connection, as text
 * @param trusted the networks of the proxies; undefined: there are none
 * @returns in its normal form; of the last proxy that is known where the headers say nothing that can be read
 */
export function clientAddress(
  peer: string,
  { forwardedFor, forwarded }: ForwardingHeaders,
  trusted: Networks | undefined,
): string {
  const address = normalAddress(peer) ?? peer;
  if (trusted === undefined || (forwardedFor === '' && forwarded === '')) return address;
  if (normalAddress(peer) === undefined || !isWithin(trusted, address)) return address;
  if (forwarded === '') return lastUntrusted(forwardedFor, plainAddress, address, trusted);
  const standard = lastUntrusted(forwarded, forAddress, address, trusted);
  if (forwardedFor === '') return standard;
  return lastUntrusted(forwardedFor, plainAddress, address, trusted) === standard ? standard : address;
}

/** Walks a list from its end: past the trusted, to the first other address or to what cannot be read. */
function lastUntrusted(
  header: string,
  read: (element: string) => string | undefined,
  peer: string,
  trusted: Networks,
): string {
  let known = peer;
  let end = header.length;
  for (let hops = 0; hops < limits.maxForwardedAddresses && end >= 0; hops += 1) {
    const comma = end === 0 ? -1 : header.lastIndexOf(',', end - 1);
    const address = read(header.slice(comma + 1, end).trim());
    if (address === undefined) return known;
    known = address;
    if (!isWithin(trusted, address)) return known;
    end = comma;
  }
  return known;
}

/** The longest form of an address, in brackets and with a port, in quotes. */
const maxElementLength = 64;
const maxForwardedElementLength = 1024;
const bracketed = /^\[([0-9A-Fa-f:.]{2,45})\](?::\d{1,5})?$/;
const withPort = /^([0-9.]{7,15}):\d{1,5}$/;

/** `192.0.2.1`, `2001:db8::1`, and both with a port as some proxies write them. */
function plainAddress(element: string): string | undefined {
  if (element.length > maxElementLength) return undefined;
  return normalAddress(bracketed.exec(element)?.[1] ?? withPort.exec(element)?.[1] ?? element);
}

/**
 * The address in `for=192.0.2.1;proto=https;by=…`; a name that hides it, or `unknown`, is none. A comma or
 * semicolon in a quoted value ends what is read, and then nothing is: no address has one.
 */
function forAddress(element: string): string | undefined {
  if (element.length > maxForwardedElementLength) return undefined;
  const values = element
    .split(';')
    .map((pair) => pair.trim())
    .filter((pair) => pair.slice(0, 4).toLowerCase() === 'for=')
    .map((pair) => pair.slice(4));
  const [value = '', ...others] = values;
  if (others.length > 0) return undefined;
  const quoted = value.length >= 2 && value.startsWith('"') && value.endsWith('"');
  return plainAddress(quoted ? value.slice(1, -1) : value);
}
