/**
 * Small requests in OTLP's JSON, one of each kind, as the specification's examples are: what SQL says of
 * them.
 */
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { authorization, type Row, Service } from '../../support/service/service.ts';

let service: Service;
beforeAll(async () => {
  service = await Service.start({ env: { MILLRACE_FLUSH_INTERVAL_MS: '50' } });
});
afterAll(() => service?.dispose());

/** Sends an example to the dataset of its signal. */
async function send(signal: 'logs' | 'metrics' | 'traces', name: string): Promise<void> {
  const reply = await fetch(`${service.url}/v1/${signal}`, {
    method: 'POST',
    headers: { authorization, 'content-type': 'application/json', 'x-p-stream': name },
    body: readFileSync(new URL(`../../support/otlp/otlp-examples/${name}.json`, import.meta.url)),
  });
  expect([reply.status, await reply.text()]).toEqual([200, '{}']);
  await service.drained();
}

const query = (sql: string): Promise<readonly Row[]> => service.query(sql);

test('a log record', async () => {
  await send('logs', 'logs');
  const sql = `SELECT body, severity_number, severity_text, trace_id, service_name, items, attributes->>'kinds' AS kinds
    FROM logs WHERE share > 0.9`;
  expect(await query(sql)).toMatchObject([
    {
      body: 'cart is nearly full',
      severity_number: 13,
      severity_text: 'WARN',
      trace_id: '5b8efff798038103d269b633813fc60c',
      service_name: 'shop',
      kinds: '["book","pen"]',
    },
  ]);
});

test('an event', async () => {
  await send('logs', 'events');
  const sql = `SELECT event_name, body, attributes['session.id'] AS session FROM events`;
  expect(await query(sql)).toEqual([
    {
      event_name: 'browser.page_view',
      body: '{"url":"https://shop.example/cart","depth":2}',
      session: 's-1',
    },
  ]);
});

test('a span', async () => {
  await send('traces', 'traces');
  const sql = `SELECT name, parent_span_id, duration_ns, status_message FROM traces
    WHERE "http.response.status_code" >= 400`;
  expect(await query(sql)).toMatchObject([
    { name: 'POST /cart', parent_span_id: 'eee19b7ec3c1b173', status_message: 'the cart has changed' },
  ]);
});

test('metrics of all kinds', async () => {
  await send('metrics', 'metrics');
  const sql = `SELECT type, count(*) AS n FROM metrics.metadata GROUP BY type ORDER BY type`;
  expect(await query(sql)).toEqual(
    ['exponential_histogram', 'gauge', 'histogram', 'sum', 'summary'].map((type) => ({ type, n: 1 })),
  );
});
