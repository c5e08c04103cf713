import { closestNames } from '../lib/closest-names.ts';
import { ConfigError } from './option.ts';

const prefix = 'MILLRACE_';

/**
 * Kubernetes sets such variables in each container, for each Service of the namespace. Where a Service is
 * called `millrace`, they begin like those of Millrace.
 */
function isServiceLink(name: string, value: string): boolean {
  if (name.endsWith('_SERVICE_HOST') || `${name}_`.includes('_SERVICE_PORT_')) return true;
  if (name.endsWith('_PORT') && portLink.test(value)) return true;
  const words = name.split('_');
  return [3, 4].some((count) => portPart.test(words.slice(-count).join('_')));
}

const portPart = /^PORT_\d{1,5}_(?:TCP|UDP|SCTP)(?:_(?:PROTO|PORT|ADDR))?$/;
const portLink = /^(?:tcp|udp|sctp):\/\//;

/**
 * Looks for variables that nobody reads. One that is a known name misspelt is an error, since what it was to
 * set is not set. Any other one that begins with `MILLRACE_` is a warning: a newer version may know it, or a
 * script may use it for itself.
 * @returns warnings
 * @throws ConfigError
 */
export function checkVariables(
  environment: Readonly<Record<string, string | undefined>>,
  known: readonly string[],
): readonly string[] {
  const names = new Set(known);
  const warnings: string[] = [];
  for (const [name, value = ''] of Object.entries(environment)) {
    if (names.has(name) || isServiceLink(name, value)) continue;
    const [meant] = closestNames(name, known, allowedTypos(name));
    if (meant !== undefined)
      throw new ConfigError(
        `the environment has ${name}, which millrace does not know; did you mean ${meant}?`,
      );
    if (name.startsWith(prefix)) warnings.push(`the environment has ${name}, which millrace does not know`);
  }
  return warnings;
}

/** Fewer for a name that does not begin like ours: it may be somebody else's. */
const allowedTypos = (name: string): number =>
  name.startsWith(prefix) ? Math.max(1, Math.min(3, Math.floor((name.length - prefix.length) / 4))) : 1;
