import { expect, test } from 'vitest';
import { chooseLibrary, createListener } from '../../../../src/http/server/libraries.ts';
import { loadUws } from '../../../../src/http/server/uwebsockets/load.ts';

const loads = (() => {
  try {
    loadUws();
    return true;
  } catch {
    return false;
  }
})();
const files = { certificate: 'cert.pem', key: 'key.pem' };

test('auto takes uWebSockets.js where it loads, and node:http elsewhere and for TLS', () => {
  const { name, why } = chooseLibrary('auto', undefined);
  expect(name).toBe(loads ? 'uWebSockets.js' : 'node:http');
  expect(why).toContain(loads ? 'loads here' : 'does not load on this system');
  expect(chooseLibrary('auto', files).name).toBe('node:http');
  expect(chooseLibrary('node', undefined)).toEqual({ name: 'node:http', why: 'MILLRACE_HTTP_SERVER=node' });
});

test.runIf(process.versions.modules === '115')('Node 20 is told what its build does, and what to do', () => {
  const { advice } = chooseLibrary('auto', undefined);
  expect(advice).toContain('505');
  expect(advice).toContain('MILLRACE_HTTP_SERVER=node');
});

test.skipIf(loads)('uWebSockets.js that is asked for and does not load is an error with what to do', () => {
  const options = { maxConnections: 1, tls: undefined, onRequest: () => {}, onUnreadable: () => {} };
  for (const ask of [
    () => chooseLibrary('uwebsockets', undefined),
    () => createListener('uwebsockets', options),
  ]) {
    expect(ask).toThrow('Set MILLRACE_HTTP_SERVER=node');
  }
});
