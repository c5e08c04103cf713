import { AppError } from '../errors.ts';
import { limits } from '../limits.ts';

/**
 * A tenant has a name, by which requests call it, and an id, under which everything that belongs to it is kept: its
 * database, its records in the log, what is remembered of its requests, its roles, users and keys.
 *
 * The id is the name, and for a tenant that is made again under a name of before, the name and a number: `acme`,
 * then `acme.2`. So whatever is left of the first one, here or on another node, is never taken for the second one's.
 */
export const tenantIdOf = (name: string, generation: number): string =>
  generation === 1 ? name : `${name}.${generation}`;

/** The opposite of `tenantIdOf`; no name holds a dot. */
export function parseTenantId(id: string): { readonly name: string; readonly generation: number } {
  const [name = '', generation = '1'] = id.split('.');
  return { name, generation: Number(generation) };
}

const tenantName = new RegExp(`^[A-Za-z][A-Za-z0-9_-]{0,${limits.tenantNameMaxLength - 1}}$`);

/**
 * Checks the name of a tenant that came from a client.
 * @throws AppError `bad_tenant_name`
 */
export function checkTenantName(name: string): string {
  if (tenantName.test(name)) return name;
  const shown = name.length > 40 ? `${name.slice(0, 40)}…` : name;
  throw new AppError(
    'bad_tenant_name',
    `${JSON.stringify(shown)} is not a tenant name: use letters, digits, "-" and "_", starting with a letter, at most ${limits.tenantNameMaxLength}`,
  );
}
