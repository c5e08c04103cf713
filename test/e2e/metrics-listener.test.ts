import { expect, test } from 'vitest';
import { freePort } from '../support/lib/child.ts';
import { authorization, Service } from '../support/service/service.ts';

const statusOf = async (url: string, headers: Record<string, string> = {}): Promise<number> => {
  const reply = await fetch(url, { headers });
  await reply.arrayBuffer();
  return reply.status;
};

test('metrics have an address of their own, where there is nothing else, and need credentials if so configured', async () => {
  const port = await freePort();
  const metricsUrl = `http://127.0.0.1:${port}`;
  const service = await Service.start({
    env: { MILLRACE_METRICS_ADDR: `127.0.0.1:${port}`, MILLRACE_METRICS_AUTH: 'required' },
  });
  try {
    expect(await statusOf(`${service.url}/metrics`, { authorization })).toBe(404);
    expect(await statusOf(`${metricsUrl}/metrics`)).toBe(401);
    expect(await statusOf(`${metricsUrl}/metrics`, { authorization })).toBe(200);
    expect(await statusOf(`${metricsUrl}/api/v1/liveness`)).toBe(404);
    expect(await service.stop()).toEqual({ code: 0, signal: null });
  } finally {
    await service.dispose();
  }
});
