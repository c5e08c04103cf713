import { AppError } from '../errors.ts';
import { limits } from '../limits/limits.ts';

const tenantName = new RegExp(`^[A-Za-z][A-Za-z0-9_-]{0,${limits.tenantNameMaxLength - 1}}$`);

/**
 * Checks the name of a tenant that came from a client.
 * @throws AppError `bad_tenant_name`
 */
export function checkTenantName(name: string): string {
  if (tenantName.test(name)) return name;
  throw new AppError(
    'bad_tenant_name',
    `this is not a tenant name: use letters, digits, "-" and "_", starting with a letter, at most ${limits.tenantNameMaxLength}`,
  );
}
