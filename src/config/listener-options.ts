import { resolve } from 'node:path';
import { ConfigError, needOption, type Option, type OptionTexts, readOption } from './option.ts';

/** Which HTTP library serves, and with which certificate. */
export interface ListenerConfig {
  /** `auto`: uWebSockets.js where it loads, and `node:http` elsewhere and with TLS. */
  readonly httpServer: 'auto' | 'uwebsockets' | 'node';
  /** Files in PEM; undefined: plain HTTP. */
  readonly tls: { readonly certificate: string; readonly key: string } | undefined;
}

const path = (text: string): string | undefined => (text === '' ? undefined : resolve(text));

const servers = ['auto', 'uwebsockets', 'node'] as const;

export const listenerOptions = {
  httpServer: {
    env: 'MILLRACE_HTTP_SERVER',
    meaning:
      'the HTTP library: uwebsockets (uWebSockets.js) needs less CPU, but has binaries for some systems only; node (node:http) runs everywhere; auto chooses uwebsockets where it loads, and node with TLS',
    fallback: 'auto',
    parse: (text) => servers.find((server) => server === text),
    allowed: servers.join(', '),
  },
  tlsCert: {
    env: 'MILLRACE_TLS_CERT',
    meaning:
      'the TLS certificate, with its chain, for HTTPS in place of HTTP; read again when the file changes, and on SIGHUP (not with MILLRACE_HTTP_SERVER=uwebsockets, which needs a restart)',
    fallback: undefined,
    parse: path,
    allowed: 'the path of a PEM file, together with MILLRACE_TLS_KEY',
  },
  tlsKey: {
    env: 'MILLRACE_TLS_KEY',
    meaning: 'the private key of the TLS certificate, without a passphrase',
    fallback: undefined,
    parse: path,
    allowed: 'the path of a PEM file, together with MILLRACE_TLS_CERT',
  },
} as const satisfies Readonly<Record<string, Option<unknown>>>;

/** @throws ConfigError */
export function readListener(texts: OptionTexts): ListenerConfig {
  const certificate = readOption<string>(listenerOptions.tlsCert, texts);
  const key = readOption<string>(listenerOptions.tlsKey, texts);
  if ((certificate === undefined) !== (key === undefined)) {
    throw new ConfigError('MILLRACE_TLS_CERT and MILLRACE_TLS_KEY need each other: set both, or none');
  }
  return {
    httpServer: needOption<ListenerConfig['httpServer']>(listenerOptions.httpServer, texts),
    tls: certificate === undefined || key === undefined ? undefined : { certificate, key },
  };
}
