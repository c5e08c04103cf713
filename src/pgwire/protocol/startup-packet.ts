import { protocolViolation } from './wire-error.ts';

/**
 * What a connection begins with (PostgreSQL's src/include/libpq/pqcomm.h): a request for encryption, which is
 * answered with one byte and followed by another packet, a request to cancel a query of another connection,
 * or the start of a session.
 */
export type StartupPacket =
  | { readonly kind: 'ssl' }
  | { readonly kind: 'gss' }
  | { readonly kind: 'cancel'; readonly processId: number; readonly secret: Buffer }
  | {
      readonly kind: 'session';
      /** The minor version of protocol 3 that the client asks for. */
      readonly minor: number;
      /** `user`, `database`, `options` and settings. */
      readonly parameters: ReadonlyMap<string, string>;
      /** Options of the protocol that begin with `_pq_.`. */
      readonly protocolOptions: readonly string[];
    };

const sslRequest = 80877103;
const gssRequest = 80877104;
const cancelRequest = 80877102;

/**
 * @param body after the length
 * @throws WireError
 */
export function readStartupPacket(body: Buffer): StartupPacket {
  const code = body.readInt32BE(0);
  if (code === sslRequest) return { kind: 'ssl' };
  if (code === gssRequest) return { kind: 'gss' };
  if (code === cancelRequest) {
    if (body.length < 12 || body.length > 8 + maxSecretBytes)
      throw protocolViolation('invalid length of cancel request');
    return { kind: 'cancel', processId: body.readInt32BE(4), secret: Buffer.from(body.subarray(8)) };
  }
  const major = code >>> 16;
  if (major !== 3) {
    throw protocolViolation(
      `unsupported frontend protocol ${major}.${code & 0xffff}: server supports 3.0 to 3.2`,
    );
  }
  return { kind: 'session', minor: code & 0xffff, ...readParameters(body.subarray(4)) };
}

/** Of the key of protocol 3.2. */
const maxSecretBytes = 256;

function readParameters(bytes: Buffer) {
  const parameters = new Map<string, string>();
  const protocolOptions: string[] = [];
  let at = 0;
  for (;;) {
    const nameEnd = bytes.indexOf(0, at);
    if (nameEnd < 0)
      throw protocolViolation('invalid startup packet layout: expected terminator as last byte');
    if (nameEnd === at) break;
    const valueEnd = bytes.indexOf(0, nameEnd + 1);
    if (valueEnd < 0) throw protocolViolation('invalid startup packet layout: a parameter has no value');
    const name = bytes.toString('utf8', at, nameEnd);
    if (name.startsWith('_pq_.')) protocolOptions.push(name);
    else parameters.set(name, bytes.toString('utf8', nameEnd + 1, valueEnd));
    at = valueEnd + 1;
  }
  if (at !== bytes.length - 1)
    throw protocolViolation('invalid startup packet layout: expected terminator as last byte');
  return { parameters, protocolOptions };
}
