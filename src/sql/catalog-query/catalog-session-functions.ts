import type { CatalogSession } from '../catalog-session.ts';
import { unsupported } from '../sql-error.ts';
import type { Value } from '../system-catalog/catalog-value.ts';
import { catalogError } from './catalog-error.ts';
import {
  always,
  type CallOf,
  type CatalogFunction,
  type FunctionTable,
  fn,
  nothing,
  numberOf,
  textOf,
} from './catalog-function.ts';
import type { CompileContext } from './catalog-scope.ts';

/** Functions about who asks, in which session, and about other sessions. */

const ofSession = (type: string, read: (session: CatalogSession) => Value): CatalogFunction =>
  fn('', type, (_, { context }) => read(context.catalog.session));

const user = ofSession('name', (session) => session.user);
const database = ofSession('name', (session) => session.database);
const started = ofSession('timestamptz', (session) => session.serviceStartedMs);
/** There are no transactions that write; each session has a number of its own. */
const transaction = (type: string): CatalogFunction => ofSession(type, ({ processId }) => processId + 1);

function settingOf(name: string, { context }: CallOf): string | undefined {
  const wanted = name.toLowerCase();
  return context.catalog.session.settings.find(([each]) => each.toLowerCase() === wanted)?.[1];
}

/** The time, which no answer is remembered for. */
const now = fn('', 'timestamptz', (_, { context: { catalog } }) =>
  Math.max(catalog.session.startedMs, Date.now()),
);

/** @throws AppError `sql_unsupported` over HTTP, where there are no sessions */
function requireSession(name: string, { catalog }: CompileContext): void {
  if (catalog.session.processId === 0) throw unsupported(`${name} outside of a session of the wire protocol`);
}

/**
 * True for a session that the caller may see, which is told so once the statement has been answered. Whether
 * there are others is told to nobody.
 */
const onBackend = (name: string, effect: 'cancel' | 'terminate', args: string): CatalogFunction =>
  fn(
    args,
    'bool',
    ([pid], { context }) => {
      requireSession(name, context);
      const processId = numberOf(pid);
      const { sessions } = context.catalog.session;
      const isThere = sessions.some((each) => each.processId === processId);
      context.effect(isThere ? { kind: effect, processId } : { kind: 'no such backend', processId });
      return isThere;
    },
    { optional: args.split(' ').length - 1 },
  );

export const sessionFunctions: FunctionTable = {
  version: fn('', 'text', (_, { context: { catalog } }) => {
    // Clients of the wire protocol read the version of the PostgreSQL from it whose answers are given.
    const { processId, settings } = catalog.session;
    const imitated = processId === 0 ? undefined : new Map(settings).get('server_version');
    const own = `Millrace ${catalog.version}`;
    return imitated === undefined ? own : `PostgreSQL ${imitated} (${own})`;
  }),
  current_user: user,
  current_role: user,
  session_user: user,
  user,
  current_database: database,
  current_catalog: database,
  current_schema: always('', 'public', 'name'),
  current_schemas: fn('bool', '_name', ([implicit]) =>
    implicit === true ? ['pg_catalog', 'public'] : ['public'],
  ),
  pg_backend_pid: ofSession('int4', (session) => session.processId),
  pg_cancel_backend: onBackend('pg_cancel_backend', 'cancel', 'int4'),
  pg_terminate_backend: onBackend('pg_terminate_backend', 'terminate', 'int4 int8'),
  pg_is_in_recovery: always('', false, 'bool'),
  pg_is_wal_replay_paused: always('', false, 'bool'),
  pg_postmaster_start_time: started,
  pg_conf_load_time: started,
  txid_current: transaction('int8'),
  txid_current_if_assigned: nothing('', 0, 'int8'),
  pg_current_xact_id: transaction('xid8'),
  pg_current_xact_id_if_assigned: nothing('', 0, 'xid8'),
  inet_server_addr: nothing(''),
  inet_server_port: nothing('', 0, 'int4'),
  inet_client_addr: ofSession('text', (session) => session.clientAddress ?? null),
  inet_client_port: nothing('', 0, 'int4'),
  pg_advisory_unlock_all: always('', '', 'text'),
  pg_stat_get_snapshot_timestamp: nothing('', 0, 'timestamptz'),
  current_setting: fn(
    'text bool',
    'text',
    ([name, missingOk], call) => {
      const value = settingOf(textOf(name), call);
      if (value !== undefined) return value;
      if (missingOk === true) return null;
      throw catalogError(
        'undefined_object',
        `unrecognized configuration parameter "${textOf(name)}"`,
        call.at,
      );
    },
    { optional: 1 },
  ),
  set_config: fn(
    'text text bool',
    'text',
    ([name = null, value = null, isLocal], { context }) => {
      if (name === null) return null;
      requireSession('set_config', context);
      context.effect({
        kind: 'set',
        name: textOf(name),
        value: value === null ? null : textOf(value),
        isLocal: isLocal === true,
      });
      return value;
    },
    { takesNulls: true },
  ),
  now,
  current_timestamp: now,
  clock_timestamp: now,
  statement_timestamp: now,
  transaction_timestamp: now,
};
