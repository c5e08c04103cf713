import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { sendAtRate } from '../../../bench/sender.ts';

async function serve(answer: RequestListener): Promise<string> {
  const server = createServer(answer);
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The server has no port');
  return `http://127.0.0.1:${address.port}`;
}

const bodies = Array.from({ length: 100 }, (_, index) => Buffer.from(`body ${index}`));

test('a fixed rate is kept while replies are late', async () => {
  const arrivals: number[] = [];
  const url = await serve(async (request, reply) => {
    arrivals.push(performance.now());
    request.resume();
    await sleep(300);
    reply.end();
  });
  const { latenciesMs, wallSeconds } = await sendAtRate({ url, headers: {}, bodies, requestsPerSecond: 100 });
  expect(arrivals).toHaveLength(100);
  // As they were due, over a second: a sender that waits for replies has its 64 connections,
  // then 300 ms of nothing.
  expect((arrivals.at(-1) ?? 0) - (arrivals[0] ?? 0)).toBeGreaterThan(500);
  expect(latenciesMs[0]).toBeGreaterThan(290);
  expect(wallSeconds).toBeGreaterThan(1.2);
});

test('those who wait behind a reply that hangs have waited since they were due', async () => {
  let stalledUntilMs: number | undefined;
  const url = await serve(async (request, reply) => {
    request.resume();
    stalledUntilMs ??= performance.now() + 1000;
    await sleep(Math.max(0, stalledUntilMs - performance.now()));
    reply.end();
  });
  const { latenciesMs } = await sendAtRate({ url, headers: {}, bodies, requestsPerSecond: 100 });
  // Due one each 10 ms during the second in which nobody was answered: evenly from 1000 ms down to 0.
  expect(latenciesMs[50]).toBeGreaterThan(400);
  expect(latenciesMs.at(-1)).toBeGreaterThan(950);
});

test('a reply that is not 2xx ends the run', async () => {
  const url = await serve((request, reply) => {
    request.resume();
    reply.writeHead(503).end('full');
  });
  const run = sendAtRate({ url, headers: {}, bodies: bodies.slice(0, 3), requestsPerSecond: 100 });
  await expect(run).rejects.toThrow('503 full');
});
