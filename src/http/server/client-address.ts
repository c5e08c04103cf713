import { isWithin, type Networks, normalAddress } from '../../lib/ip-address.ts';
import { limits } from '../../limits/limits.ts';

/**
 * The headers in which proxies name the client. An absent header is empty; one sent in several parts is
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
 * Anybody can send these headers, so they count only if the peer of the connection is a trusted proxy. They
 * are read from the end, because the trusted proxy wrote the last address. Addresses of trusted proxies are
 * skipped; the first other one is the address of the client. The client may have made up everything before
 * it.
 *
 * A proxy writes one of the two headers and passes the other on unchanged. So if both are present and differ,
 * neither is used.
 *
 * @param peer the address of the other end of the connection
 * @param trusted the networks of the trusted proxies; undefined if there are none
 * @returns the address in its normal form; if the headers cannot be read, that of the last known proxy
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

/** Reads a list from its end and skips trusted proxies, up to another address or to one that is malformed. */
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
 * The address in `for=192.0.2.1;proto=https;by=…`; undefined for an obfuscated name and for `unknown`. A
 * comma or semicolon within quotes is not supported: no address contains one, so such a value is none.
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
