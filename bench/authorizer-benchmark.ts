import { randomBytes, randomUUID } from 'node:crypto';
import { Authorizer } from '../src/auth/authorizer.ts';
import type { PresentedCredential } from '../src/auth/credentials.ts';
import { limits } from '../src/limits/limits.ts';
import { markdownTable } from './markdown-table.ts';

const manyKeys = 10_000;
const principal = { kind: 'apiKey', name: 'bench', tenant: 'default', privileges: [] } as const;

interface Case {
  readonly name: string;
  readonly header: PresentedCredential['header'];
  readonly values: readonly string[];
}

const repeat = (count: number, make: () => string): string[] => Array.from({ length: count }, make);
const basic = `Basic ${Buffer.from('alice:24 characters of secret').toString('base64')}`;
const token = () => `Bearer ${randomBytes(750).toString('base64url')}`;

const cases: readonly Case[] = [
  { name: 'one key', header: 'x-api-key', values: repeat(1, randomUUID) },
  { name: `${manyKeys} keys in turn`, header: 'x-api-key', values: repeat(manyKeys, randomUUID) },
  {
    name: `${2 * manyKeys} keys in turn: half of them by a digest`,
    header: 'x-api-key',
    values: repeat(2 * manyKeys, randomUUID),
  },
  { name: 'a password', header: 'authorization', values: [basic] },
  { name: 'a token of 1 kB', header: 'authorization', values: repeat(1, token) },
  { name: '1000 tokens of 1 kB in turn', header: 'authorization', values: repeat(1000, token) },
];

/**
 * Microseconds of CPU to authenticate with a cached credential, by kind. Each request uses a new string, as
 * real ones do: V8 caches the hash of a string. Making the strings is not counted.
 */
export function measureAuthorizer(hits: number): string {
  if (limits.maxRecentCredentials !== manyKeys) throw new Error('BUG: the cases are made for another bound');
  const rows = cases.map(({ name, header, values }) => {
    const authorizer = new Authorizer([{ verify: () => ({ principal }) }]);
    const encoded = values.map((value) => Buffer.from(value, 'latin1'));
    const ask = (value: string): boolean =>
      authorizer.authenticate({ tenant: 'default', header, value }) === principal;
    const make = (value: string): boolean => value.length > 0;
    cpuMicros(encoded, encoded.length, ask);
    cpuMicros(encoded, hits / 10, ask);
    const micros = (cpuMicros(encoded, hits, ask) - cpuMicros(encoded, hits, make)) / hits;
    return [name, micros.toFixed(2), Math.round(1e6 / micros).toLocaleString('en')];
  });
  return markdownTable(['known credential', 'CPU us / hit', 'hits / s of a core'], rows);
}

function cpuMicros(encoded: readonly Buffer[], count: number, use: (value: string) => boolean): number {
  const before = process.cpuUsage();
  for (let index = 0; index < count; index += 1) {
    const value = encoded[index % encoded.length]?.toString('latin1') ?? '';
    if (!use(value)) throw new Error('BUG: it is not known');
  }
  const { user, system } = process.cpuUsage(before);
  return user + system;
}
