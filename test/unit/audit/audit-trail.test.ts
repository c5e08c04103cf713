import { describe, expect, it } from 'vitest';
import { type AuditRow, AuditTrail } from '../../../src/audit/audit-trail.ts';
import { AppError } from '../../../src/errors.ts';
import type { IngestRequest } from '../../../src/ingest/ingest-request.ts';
import { systemClock } from '../../../src/lib/clock.ts';
import { createLogger } from '../../../src/lib/log.ts';
import { limits } from '../../../src/limits/limits.ts';
import { noCounts } from '../../../src/model/counts.ts';

const row = (target: string): AuditRow => ({
  audit: 'role.put',
  target,
  by_kind: 'user',
  by_name: 'alice',
  by_id: '',
  address: '127.0.0.1',
  method: '',
  route: '',
  code: '',
  reason: '',
  left_out: 0,
});

function setup() {
  const requests: IngestRequest[] = [];
  const state = { failure: undefined as Error | undefined, lost: 0, room: true };
  const trail = new AuditTrail({
    ingest: {
      write: async (request) => {
        await new Promise(setImmediate);
        if (state.failure !== undefined) throw state.failure;
        requests.push(request);
        return { counts: noCounts, refused: undefined, replayed: false };
      },
    },
    checkRoom: () => {
      if (!state.room) throw new AppError('log_full', 'no room');
    },
    timers: { ...systemClock, after: (_, action) => systemClock.after(2, action) },
    log: createLogger('silent'),
    onLost: (rows) => {
      state.lost += rows;
    },
  });
  const targets = (tenant = 'default') =>
    requests
      .filter((request) => request.tenant === tenant)
      .flatMap(({ body }) => Buffer.from(body).toString().split('\n'))
      .map((line) => (JSON.parse(line) as AuditRow).target);
  return { trail, requests, state, targets };
}

const moment = () => new Promise((resolve) => setTimeout(resolve, 20));

describe('the audit trail', () => {
  it('writes each row once, in order, those that come together in one request', async () => {
    const { trail, requests, targets } = setup();
    const names = Array.from({ length: 50 }, (_, index) => `t${index}`);
    for (const name of names) trail.add('default', row(name));
    while (requests.length === 0) await moment();
    expect(targets()).toEqual(names);
    expect(requests).toHaveLength(1);
    expect(requests[0]).toMatchObject({ dataset: 'millrace_audit', mustExist: false });
    trail.add('default', row('later'));
    await trail.stop();
    expect(targets()).toEqual([...names, 'later']);
  });

  it('gives each tenant its own, and the default one what belongs to none', async () => {
    const { trail, targets } = setup();
    trail.add('acme', row('a'));
    trail.add('', row('b'));
    trail.add('acme', row('c'));
    await trail.stop();
    expect(targets('acme')).toEqual(['a', 'c']);
    expect(targets()).toEqual(['b']);
  });

  it('keeps rows while the log takes nothing, up to its bound, and counts the rest', async () => {
    const { trail, state, targets } = setup();
    state.room = false;
    for (let index = 0; index < limits.maxWaitingAuditRows + 7; index += 1)
      trail.add('default', row(`t${index}`));
    await moment();
    expect([targets().length, state.lost]).toEqual([0, 7]);
    state.room = true;
    while (targets().length === 0) await moment();
    expect(targets()).toHaveLength(limits.maxWaitingAuditRows);
    expect(state.lost).toBe(7);
  });

  it('lets no flood of refusals push out changes, nor one of nobody known the other refusals', async () => {
    const { trail, state, targets } = setup();
    state.room = false;
    const denied = (target: string, by_kind: string) => ({ ...row(target), audit: 'denied', by_kind });
    for (let index = 0; index < 2000; index += 1) trail.add('default', denied('anonymous', ''));
    for (let index = 0; index < 2000; index += 1) trail.add('acme', denied('known', 'user'));
    trail.add('default', row('change'));
    await moment();
    state.room = true;
    while (!targets().includes('change')) await moment();
    await trail.stop();
    const { maxWaitingAnonymousDenialRows: anonymous, maxWaitingDenialRows: denials } = limits;
    expect(targets()).toEqual([...Array<string>(anonymous).fill('anonymous'), 'change']);
    expect(targets('acme')).toHaveLength(denials - anonymous);
    expect(state.lost).toBe(4000 - denials);
  });

  it('does not try again what can never be stored', async () => {
    const { trail, state, targets } = setup();
    state.failure = new AppError('kind_conflict', 'metrics');
    trail.add('default', row('lost'));
    while (state.lost === 0) await moment();
    expect(state.lost).toBe(1);
    state.failure = undefined;
    trail.add('default', row('kept'));
    await trail.stop();
    expect(targets()).toEqual(['kept']);
  });

  it('ends with the service, even while the log takes nothing', async () => {
    const { trail, state, targets } = setup();
    state.room = false;
    trail.add('default', row('a'));
    await moment();
    await trail.stop();
    expect(targets()).toEqual([]);
  });
});
