import { Gate } from '../../../src/access/gate.ts';
import { AuditLog } from '../../../src/audit/audit-log.ts';
import { makeVerifier } from '../../../src/auth/scram.ts';
import { AppError } from '../../../src/errors.ts';
import { systemClock } from '../../../src/lib/clock.ts';
import { createLogger } from '../../../src/lib/log.ts';
import { createMetrics } from '../../../src/lib/metrics.ts';
import type { Principal } from '../../../src/model/identity.ts';
import { PgServer } from '../../../src/pgwire/pg-server.ts';
import type { Query } from '../../../src/query/request.ts';
import { administrator } from '../../sql/querier.ts';

export const pgPassword = 'correct horse';

export interface TestPgServer {
  readonly port: number;
  readonly server: PgServer;
  /** Who `admin` is from now on; undefined: nobody. */
  become(principal: Principal | undefined): void;
  stop(): Promise<void>;
}

export interface TestAccounts {
  /** By their names, beside `admin`; all have the same password. */
  readonly users?: Readonly<Record<string, Principal>>;
  /** Beside the default one. Their ids are their names. */
  readonly tenants?: readonly string[];
}

/**
 * A server of the wire protocol around a query service, with the user `admin`, and `late`, for whom there
 * is no room.
 */
export async function startPgServer(
  query: Query,
  { users = {}, tenants = [] }: TestAccounts = {},
): Promise<TestPgServer> {
  let principal: Principal | undefined = administrator;
  const log = createLogger('silent');
  const nobody = await makeVerifier(Math.random().toString());
  const verifier = await makeVerifier(pgPassword);
  const server = new PgServer({
    query,
    gate: new Gate(
      { authenticate: () => undefined },
      {
        multiTenant: tenants.length > 0,
        idOf: (name) => tenants.find((each) => each === name),
        hasEnded: () => false,
      },
    ),
    accounts: {
      find: (_, name) => {
        if (name === 'late') return Promise.reject(new AppError('overloaded', 'too many SQL clients'));
        const user = users[name];
        if (user !== undefined) return Promise.resolve({ verifier, principal: () => user });
        return Promise.resolve(
          name === 'admin'
            ? { verifier, principal: () => principal }
            : { verifier: nobody, principal: () => undefined },
        );
      },
    },
    audit: new AuditLog(log, systemClock, { add: () => undefined }),
    clock: systemClock,
    log,
    metrics: createMetrics(),
  });
  const { port } = await server.listen('127.0.0.1', 0);
  return {
    port,
    server,
    become: (other) => {
      principal = other;
    },
    stop: () => server.close(1000),
  };
}
