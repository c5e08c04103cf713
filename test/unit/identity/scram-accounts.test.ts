import { expect, test } from 'vitest';
import {
  ScramAccounts,
  type ScramAccountsParts,
  type ScramClient,
} from '../../../src/identity/scram-accounts.ts';
import { Cancellation } from '../../../src/lib/cancellation.ts';
import { rejectedError } from '../../support/lib/caught.ts';

/** Accounts of which there are none: each sign-in derives a key all the same. */
const nobody = {
  identityStore: { user: () => undefined, apiKey: () => undefined, apiKeyById: () => undefined },
  apiKeys: { secretOf: () => '' },
  administrator: { name: 'admin', password: 'secret', identity: { principal: undefined } },
} as unknown as ScramAccountsParts;

const from = (address: string, closed = new Cancellation()): ScramClient => ({ address, closed });

test('a flood of sign-ins from one network holds up itself, and not the next network', async () => {
  const accounts = new ScramAccounts(nobody);
  const ended: string[] = [];
  const find = async (name: string, address: string): Promise<void> => {
    await accounts.find('', name, from(address));
    ended.push(name);
  };
  const flood = Array.from({ length: 20 }, (_, index) => find(`flood${index}`, '192.0.2.1'));
  await Promise.all([...flood, find('other', '198.51.100.7')]);
  // One is under way when it comes, and one of the flood may have its turn before it.
  expect(ended.indexOf('other')).toBeLessThanOrEqual(2);
});

test('addresses of one customer are one network', async () => {
  const accounts = new ScramAccounts(nobody, 3);
  const flood = Array.from({ length: 8 }, (_, index) =>
    accounts.find('', 'x', from(`2001:db8::${index + 1}`)),
  );
  const other = accounts.find('', 'x', from('2001:db8:1::1'));
  const outcomes = await Promise.allSettled(flood);
  expect((await other).principal()).toBe(undefined);
  expect(outcomes.filter(({ status }) => status === 'rejected').length).toBeGreaterThanOrEqual(5);
});

test('beyond the bound, the network with most of them is refused', async () => {
  const accounts = new ScramAccounts(nobody, 2);
  const flood = Array.from({ length: 6 }, () => accounts.find('', 'x', from('192.0.2.1')));
  const refused = flood.slice(3).map((each) => rejectedError(each));
  const other = accounts.find('', 'admin', from('198.51.100.7'));
  const pushedOut = rejectedError(flood[2] ?? other);
  expect((await Promise.all([...refused, pushedOut])).map(({ code }) => code)).toEqual(
    Array<string>(4).fill('overloaded'),
  );
  await expect(other).resolves.toMatchObject({ verifier: { iterations: 4096 } });
});

test('nothing is derived for a client that is gone', async () => {
  const accounts = new ScramAccounts(nobody);
  const closed = new Cancellation();
  const first = accounts.find('', 'a', from('192.0.2.1'));
  const gone = accounts.find('', 'b', from('192.0.2.1', closed));
  closed.cancel(new Error('gone'));
  await first;
  await expect(gone).rejects.toThrow('gone');
});
