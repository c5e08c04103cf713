import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { freePort, removeFolder, temporaryFolder } from '../support/lib/child.ts';
import { sayIfSkipped } from '../support/lib/skipped.ts';
import { sqlClientPrograms } from '../support/peers/sql-clients.ts';
import { Service } from '../support/service/service.ts';

/**
 * Drivers of other languages, and what is built on them, against the built service: each has a program of its
 * own.
 */
const programs = sqlClientPrograms();
for (const { name, problem } of programs) sayIfSkipped(`SQL client ${name}`, problem);

const messages = [
  'GET /index.html 200',
  "it's a 100% \\ backslash",
  'Überlauf ✓ emoji 😀',
  '',
  '  padded  ',
  null,
];
const events = Array.from({ length: 60 }, (_, id) => ({
  id,
  level: ['info', 'warn', 'error', 'debug'][id % 4],
  service: ['api', 'web', null][id % 3],
  ms: id % 7 === 0 ? null : Math.round(1000 * (id * 1.37 + 0.25)) / 1000,
  ok: id % 6 === 0 ? null : id % 2 === 0,
  message: [...messages, 'a,b,c'][id % 7],
}));

const log = {
  timeUnixNano: `${Date.now()}000000`,
  body: { stringValue: 'hello' },
  attributes: [{ key: 'path', value: { stringValue: '/a' } }],
};

describe.skipIf(programs.every(({ problem }) => problem !== undefined))('SQL clients', () => {
  let service: Service;
  let port: number;
  const scratch = temporaryFolder('sql-drivers');

  beforeAll(async () => {
    port = await freePort();
    service = await Service.start({ env: { MILLRACE_PG_ADDR: `127.0.0.1:${port}` } });
    await service.ingest('app', events);
    const bytes = Buffer.from(JSON.stringify({ resourceLogs: [{ scopeLogs: [{ logRecords: [log] }] }] }));
    await service.otlp('logs', { contentType: 'application/json', bytes }, 'requests');
    await service.drained();
  });
  afterAll(async () => {
    await service?.dispose();
    removeFolder(scratch);
  });

  for (const { name, command, args, env, checks, problem } of programs) {
    test.skipIf(problem !== undefined)(name, async () => {
      const { username, password } = Service.credentials;
      const given = {
        ...process.env,
        ...env,
        PGPORT: String(port),
        PGUSER: username,
        PGPASSWORD: password,
        SCRATCH: scratch,
      };
      const printed = await promisify(execFile)(command, args, { env: given }).catch(
        (failed: { stdout: string; stderr: string }) => failed,
      );
      const lines = printed.stdout.trim().split('\n');
      expect(lines.filter((line) => !line.startsWith('ok ')).join('\n'), printed.stderr).toBe('');
      expect(lines).toHaveLength(checks);
    });
  }
});
