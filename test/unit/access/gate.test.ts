import { describe, expect, it } from 'vitest';
import { Gate, requireAllRows, visibleDatasets } from '../../../src/access/gate.ts';
import type { Principal, PrivilegeName } from '../../../src/model/identity.ts';
import { caughtCode } from '../../support/lib/caught.ts';

const person = (tenant: string, privilege: PrivilegeName, dataset?: string): Principal => ({
  kind: 'apiKey',
  name: 'somebody',
  tenant,
  privileges: [dataset === undefined ? { privilege } : { privilege, dataset }],
});

const gateFor = (principal: Principal | undefined, multiTenant = true) =>
  new Gate(
    { authenticate: () => principal },
    { multiTenant, idOf: (name) => (name === 'shop' ? 'shop' : undefined), hasEnded: (id) => id === 'gone' },
  );

describe('the gate', () => {
  it('lets a reader of a dataset read it, and nothing else', () => {
    const reader = person('shop', 'reader', 'app');
    const gate = gateFor(reader);
    const asked = gate.tenantOf('shop', 'required');
    const caller = gate.admit(reader, asked);
    expect(caller).toEqual({ principal: reader, tenant: 'shop' });
    gate.authorize(caller, asked, 'dataset.read', 'app');
    expect(caughtCode(() => gate.authorize(caller, asked, 'dataset.read', 'other'))).toBe('forbidden');
    expect(caughtCode(() => gate.authorize(caller, asked, 'dataset.manage', 'app'))).toBe('forbidden');
  });

  it('lets nobody into the tenant of somebody else', () => {
    const gate = gateFor(undefined);
    const asked = gate.tenantOf('shop', 'required');
    expect(caughtCode(() => gate.admit(undefined, asked))).toBe('unauthenticated');
    expect(caughtCode(() => gate.admit(person('other', 'admin'), asked))).toBe('unauthenticated');
  });

  it('tells only those who are known that a tenant does not exist', () => {
    const root: Principal = {
      kind: 'root',
      name: 'admin',
      tenant: 'default',
      privileges: [{ privilege: 'admin' }],
    };
    const gate = gateFor(root);
    const asked = gate.tenantOf('nobody', 'required');
    expect(caughtCode(() => gate.admit(person('shop', 'admin'), asked))).toBe('unauthenticated');
    const caller = gate.admit(root, asked);
    expect(caughtCode(() => gate.authorize(caller, asked, 'query', undefined))).toBe('tenant_not_found');
  });

  it('takes the tenant of the credential for a session, until that tenant has ended', () => {
    const gate = gateFor(undefined);
    const asked = gate.tenantOf('', 'ofCredential');
    expect(gate.admit(person('shop', 'reader'), asked).tenant).toBe('shop');
    expect(caughtCode(() => gate.admit(person('gone', 'reader'), asked))).toBe('unauthenticated');
  });

  it('wants a tenant named where there are several', () => {
    expect(caughtCode(() => gateFor(undefined).tenantOf('', 'required'))).toBe('tenant_required');
    expect(gateFor(undefined).tenantOf('', 'server')).toEqual({ id: 'default' });
    expect(gateFor(undefined, false).tenantOf('', 'required')).toEqual({ id: 'default' });
  });
});

it('shows the datasets that somebody may see, and all rows to those who may read all', () => {
  const reader = person('shop', 'reader', 'app');
  expect(visibleDatasets(reader, ['app', 'other', 'millrace_audit'])).toEqual(['app']);
  requireAllRows(reader, 'app');
  expect(caughtCode(() => requireAllRows(reader, 'other'))).toBe('forbidden');
});
