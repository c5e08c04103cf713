/** Two small OTLP requests that use what a sender uses every day. */
import type { TestRequest, TestValue } from './otlp-requests.ts';

/** 2025-11-20 12:00:00 UTC in nanoseconds. */
export const exampleNanos = 1_763_640_000_000_000_000n;
export const exampleTraceId = '5b8efff798038103d269b633813fc60c';

const id = (hex: string): Buffer => Buffer.from(hex, 'hex');
const text = (key: string, stringValue: string): TestValue => ({ key, value: { stringValue } });

const resource = (service: string, environment: string): TestRequest => ({
  attributes: [text('service.name', service), text('env', environment)],
});

export const exampleLogs: TestRequest = {
  resourceLogs: [
    {
      resource: resource('checkout', 'prod'),
      scopeLogs: [
        {
          scope: { name: 'http', version: '1.2', attributes: [text('lib', 'koa')] },
          logRecords: [
            {
              timeUnixNano: exampleNanos + 123_456_789n,
              observedTimeUnixNano: exampleNanos + 1_000_000_000n,
              severityNumber: 9,
              severityText: 'INFO',
              body: { stringValue: 'GET /cart' },
              attributes: [
                text('http.method', 'GET'),
                { key: 'http.status_code', value: { intValue: 200n } },
                { key: 'cached', value: { boolValue: true } },
              ],
              flags: 1,
              traceId: id(exampleTraceId),
              spanId: id('eee19b7ec3c1b174'),
            },
            {
              timeUnixNano: exampleNanos + 2_000_000_000n,
              severityNumber: 17,
              severityText: 'ERROR',
              body: { kvlistValue: { values: [{ key: 'why', value: { stringValue: 'no stock' } }] } },
              attributes: [
                text('http.method', 'POST'),
                { key: 'http.status_code', value: { intValue: 503n } },
                { key: 'cached', value: { boolValue: false } },
                { key: 'ids', value: { arrayValue: { values: [{ intValue: 1n }, { stringValue: 'b' }] } } },
              ],
              droppedAttributesCount: 3,
            },
          ],
        },
      ],
    },
    {
      resource: resource('payment', 'test'),
      scopeLogs: [{ logRecords: [{ observedTimeUnixNano: exampleNanos + 5n, eventName: 'started' }] }],
      schemaUrl: 'https://example.com/schema',
    },
  ],
};

export const exampleTraces: TestRequest = {
  resourceSpans: [
    {
      resource: resource('checkout', 'prod'),
      scopeSpans: [
        {
          scope: { name: 'http' },
          spans: [
            {
              traceId: id(exampleTraceId),
              spanId: id('eee19b7ec3c1b174'),
              name: 'GET /cart',
              kind: 2,
              startTimeUnixNano: exampleNanos,
              endTimeUnixNano: exampleNanos + 1_500_000n,
              attributes: [{ key: 'http.status_code', value: { intValue: 503n } }],
              events: [
                {
                  timeUnixNano: exampleNanos + 1_000_000n,
                  name: 'exception',
                  attributes: [text('exception.type', 'OutOfStock')],
                },
              ],
              status: { code: 2, message: 'no stock' },
            },
            {
              traceId: id(exampleTraceId),
              spanId: id('eee19b7ec3c1b175'),
              parentSpanId: id('eee19b7ec3c1b174'),
              traceState: 'a=1',
              name: 'SELECT',
              kind: 3,
              startTimeUnixNano: exampleNanos + 100n,
              links: [
                { traceId: id('00000000000000000000000000000001'), spanId: id('0000000000000002'), flags: 1 },
              ],
            },
          ],
        },
      ],
    },
    {
      resource: resource('payment', 'test'),
      scopeSpans: [{ spans: [{ name: 'charge', kind: 5, startTimeUnixNano: exampleNanos }] }],
    },
  ],
};
