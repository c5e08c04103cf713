import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { installNode, supportedNodes } from '../support/lib/installed-node.ts';
import { sayIfSkipped } from '../support/lib/skipped.ts';
import { mainPath, Service } from '../support/service/service.ts';

describe.each(supportedNodes)('on Node %i', (major) => {
  const { path, problem } = installNode(major);
  sayIfSkipped(`Millrace on Node ${major}`, problem);

  it.skipIf(problem !== undefined)('a service starts, takes events and answers a query', async () => {
    const service = await Service.start({ node: path });
    try {
      expect(await service.ingest('app', [{ level: 'info' }, { level: 'error' }])).toBe(2);
      const rows = await service.query('SELECT level, count(*) AS n FROM app GROUP BY level ORDER BY level');
      expect(rows).toEqual([
        { level: 'error', n: 1 },
        { level: 'info', n: 1 },
      ]);
      const nothing = { contentType: 'application/x-protobuf', bytes: Buffer.alloc(0) } as const;
      for (const signal of ['logs', 'traces', 'metrics'] as const)
        await service.otlp(signal, nothing, 'none');
      const refused = await fetch(`${service.url}/api/v1/users`, { headers: { 'x-api-key': 'a guess' } });
      expect(refused.status).toBe(401);
      const denials = () => service.query("SELECT code FROM millrace_audit WHERE audit = 'denied'");
      await expect.poll(denials).toEqual([{ code: 'unauthenticated' }]);
      const { stderr } = service.child;
      // Nothing but the log: V8 says there what flags it does not know.
      expect(stderr.split('\n').filter((line) => line !== '' && !line.startsWith('{'))).toEqual([]);
      expect(stderr).not.toContain('"level":"error"');
      expect(stderr).toMatch(/"server":"(uWebSockets\.js|node:http)","why":"/);
      expect(await service.stop()).toEqual({ code: 0, signal: null });
    } finally {
      await service.dispose();
    }
  });
});

describe('on a Node that is too old', () => {
  const { path, problem } = installNode(18);
  sayIfSkipped('Millrace on Node 18', problem);

  it.skipIf(problem !== undefined)('the program says so in one line', () => {
    const { status, stdout, stderr } = spawnSync(path, [mainPath]);
    expect([status, stdout.toString()]).toEqual([1, '']);
    expect(stderr.toString()).toMatch(
      /^millrace: Node\.js 18\.\d+\.\d+ is too old; 20\.19 or newer is needed .*\n$/,
    );
  });
});
