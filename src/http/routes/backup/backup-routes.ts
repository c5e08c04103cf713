import * as v from 'valibot';
import type { AuditLog } from '../../../audit/audit-log.ts';
import type { BackupStatus, Backups } from '../../../backup/backups.ts';
import { AppError } from '../../../errors.ts';
import { defaultTenant } from '../../../model/dataset.ts';
import { type Declared, serviceRoute } from '../../server/declare-route.ts';
import { jsonReply } from '../../server/reply.ts';
import { jsonContent, timestamp } from '../../server/reply-content.ts';
import type { AuthorizedRequest, ParameterReference, Route, ServiceRoute } from '../../server/route.ts';

const backupName: ParameterReference = {
  description: 'The name of the backup: a directory in `MILLRACE_BACKUP_DIR`.',
  schema: v.pipe(v.string(), v.minLength(1), v.maxLength(100)),
};

const status = v.pipe(
  v.object({
    name: v.string(),
    path: v.string(),
    state: v.picklist(['running', 'complete', 'failed']),
    step: v.optional(v.string()),
    startedAt: timestamp,
    storeBytes: v.optional(v.number()),
    error: v.optional(v.string()),
  }),
  v.title('Backup'),
);

/** A route about one backup. It does not belong to a tenant. */
const backupRoute = ({
  reference,
  ...declared
}: Pick<
  Declared<ServiceRoute, AuthorizedRequest, undefined, undefined>,
  'method' | 'reference' | 'handler'
>) =>
  serviceRoute({
    ...declared,
    path: '/api/v1/backups/{backup}',
    permission: 'backup.manage',
    dataset: 'none',
    tenant: 'none',
    reference: { ...reference, parameter: backupName },
  });

/**
 * Routes for backups. Only the root administrator may use them, because a backup contains all tenants.
 * @param backups undefined with a ClickHouse server, which has backups of its own
 */
export function backupRoutes(backups: Backups | undefined, audit: AuditLog): Route[] {
  const own = (): Backups => {
    if (backups !== undefined) return backups;
    throw new AppError('backup_unsupported', 'the data is in a ClickHouse server: use its BACKUP');
  };
  return [
    backupRoute({
      method: 'PUT',
      reference: {
        group: 'Backups',
        summary: 'Begin a backup',
        details: 'It goes on after the reply. `millrace backup` waits for it.',
        replies: [{ status: 202, description: 'It has begun.', content: jsonContent(status) }],
        errors: ['bad_backup_name', 'backup_exists', 'backup_running', 'backup_unsupported'],
      },
      handler: async (request) => {
        const from = request.clientAddress();
        const begun = await own().begin(request.parameter);
        const caller = { principal: request.principal, tenant: defaultTenant };
        audit.changed(caller, from, 'backup.create', request.parameter);
        return { ...jsonReply(begun satisfies BackupStatus), status: 202 };
      },
    }),
    backupRoute({
      method: 'GET',
      reference: {
        group: 'Backups',
        summary: 'Show how far a backup is',
        replies: [{ status: 200, description: 'Its state.', content: jsonContent(status) }],
        errors: ['backup_not_found', 'backup_unsupported'],
      },
      handler: async ({ parameter }) => jsonReply(await own().status(parameter)),
    }),
  ];
}
