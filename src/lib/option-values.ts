/** Parsers of option values. They return undefined for a text that is not valid. */

export interface Address {
  readonly host: string;
  readonly port: number;
}

/** `host:port`, with an IPv6 address in brackets. */
export function parseAddress(text: string): Address | undefined {
  const match = /^(?:\[([0-9a-fA-F:.]+)\]|([^:[\]\s]+)):(\d{1,5})$/.exec(text);
  const host = match?.[1] ?? match?.[2];
  const port = Number(match?.[3]);
  return host === undefined || port > 65_535 ? undefined : { host, port };
}

/** A parser of decimal integers. */
export function integer(min: number, max: number): (text: string) => number | undefined {
  return (text) => {
    const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
    return value >= min && value <= max ? value : undefined;
  };
}

/** `true` or `false`. */
export const boolean = (text: string): boolean | undefined =>
  text === 'true' ? true : text === 'false' ? false : undefined;

const byteUnits: Readonly<Record<string, number>> = {
  KiB: 2 ** 10,
  MiB: 2 ** 20,
  GiB: 2 ** 30,
  TiB: 2 ** 40,
};

/** A parser of sizes: bytes, optionally with a unit. */
export function byteCount(min: number, max: number): (text: string) => number | undefined {
  return (text) => {
    const match = /^(\d{1,15}) ?(KiB|MiB|GiB|TiB)?$/.exec(text);
    if (match === null) return undefined;
    const value = Number(match[1]) * (byteUnits[match[2] ?? ''] ?? 1);
    return value >= min && value <= max ? value : undefined;
  };
}

const loopback = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;

/**
 * The absolute URL of an identity provider. It must be https, or http on this machine: nobody may read
 * or change the replies.
 */
export function parseProviderUrl(text: string): URL | undefined {
  const url = URL.parse(text);
  if (url === null || url.search !== '' || url.hash !== '' || url.username + url.password !== '')
    return undefined;
  return url.protocol === 'https:' || (url.protocol === 'http:' && loopback.test(url.hostname))
    ? url
    : undefined;
}

/** `https://host` or `https://host:port`, without a path. */
export function parseOrigin(text: string): string | undefined {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol)) return undefined;
  return url.href === `${url.origin}/` ? url.origin : undefined;
}
