import { errorText } from '../../errors.ts';
import type { TlsFiles } from '../../lib/tls-files.ts';
import type { HttpListener, ListenerOptions } from './listener.ts';
import { NodeListener } from './node/node-listener.ts';
import { loadUws, type UwsModule } from './uwebsockets/load.ts';
import { UwsListener } from './uwebsockets/uws-listener.ts';

/**
 * The setting for the HTTP library. `auto` means uWebSockets.js if it loads, since it costs less CPU. It
 * means `node:http` if it does not load, and for TLS, since only `node:http` accepts a new certificate while
 * it runs.
 */
export type HttpServerSetting = 'auto' | 'uwebsockets' | 'node';

/** The configured library cannot be loaded. The message says why, and what to do. */
export class NoHttpLibrary extends Error {
  override readonly name = 'NoHttpLibrary';
}

/** Versions of Node's binary interface for which only an older build of uWebSockets.js exists. */
const olderBuilds: ReadonlySet<string> = new Set(['115']);

/**
 * Chooses the library for a setting.
 * @returns the name; `why`, for the log; `advice` if the operator may want another setting
 * @throws NoHttpLibrary
 */
export function chooseLibrary(
  setting: HttpServerSetting,
  tls: TlsFiles | undefined,
): {
  readonly name: 'uWebSockets.js' | 'node:http';
  readonly why: string;
  readonly advice?: string;
} {
  if (setting === 'node') return { name: 'node:http', why: 'MILLRACE_HTTP_SERVER=node' };
  if (setting === 'auto' && tls !== undefined) {
    return { name: 'node:http', why: 'it takes a new TLS certificate without a restart' };
  }
  const uws = tryUws();
  if (uws instanceof Error) {
    if (setting === 'uwebsockets') throw notLoaded(uws);
    return { name: 'node:http', why: `uWebSockets.js does not load on this system: ${uws.message}` };
  }
  const why = setting === 'auto' ? 'it loads here, and costs less CPU' : 'MILLRACE_HTTP_SERVER=uwebsockets';
  return olderBuilds.has(process.versions.modules)
    ? {
        name: 'uWebSockets.js',
        why,
        advice: `the build of uWebSockets.js for Node ${process.versions.node.split('.')[0]} answers 505 to a request line that arrives in pieces, as some clients send it; use Node 22 or newer, or MILLRACE_HTTP_SERVER=node`,
      }
    : { name: 'uWebSockets.js', why };
}

/** @throws NoHttpLibrary */
export function createListener(setting: HttpServerSetting, options: ListenerOptions): HttpListener {
  if (setting === 'node' || (setting === 'auto' && options.tls !== undefined))
    return new NodeListener(options);
  const uws = tryUws();
  if (!(uws instanceof Error)) return new UwsListener(uws, options);
  if (setting === 'auto') return new NodeListener(options);
  throw notLoaded(uws);
}

const notLoaded = ({ message }: Error): NoHttpLibrary =>
  new NoHttpLibrary(
    `uWebSockets.js does not load on this system: ${message}. Set MILLRACE_HTTP_SERVER=node, or leave it out`,
  );

/** The result of the first attempt. It is not repeated, since the result would be the same. */
let loaded: UwsModule | Error | undefined;

function tryUws(): UwsModule | Error {
  try {
    loaded ??= loadUws();
  } catch (error) {
    // The first line of the message lists versions of Node; the last line says what is missing.
    loaded = new Error(
      errorText(error)
        .split('\n')
        .at(-1)
        ?.replace(/^Error: /, '') ?? '',
      { cause: error },
    );
  }
  return loaded;
}
