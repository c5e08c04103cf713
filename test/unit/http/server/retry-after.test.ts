import { describe, expect, it } from 'vitest';
import { AppError, type ErrorCode, errorDefinitions } from '../../../../src/errors.ts';
import { ingestRoutes } from '../../../../src/http/routes/ingest/ingest-routes.ts';
import { otlpRoutes } from '../../../../src/http/routes/ingest/otlp-routes.ts';
import { remoteWriteRoutes } from '../../../../src/http/routes/ingest/remote-write-routes.ts';
import { earlyReply } from '../../../../src/http/server/early-reply.ts';
import type { ServerRequest } from '../../../../src/http/server/listener.ts';
import { problemReply, type Reply } from '../../../../src/http/server/reply.ts';
import type { RefusalFormat } from '../../../../src/http/server/route.ts';
import { maxBodyBytes, RecordingIngest } from '../../../integration/http/http-harness.ts';

const retryAfter = ({ headers = [] }: Reply): number[] =>
  headers.filter(([name]) => name === 'Retry-After').map(([, value]) => Number(value));

/** Every way in which a route answers an error. */
const ingest = new RecordingIngest();
const parts = { ingest, maxBodyBytes };
const formats: ReadonlyMap<string, RefusalFormat> = new Map([
  ['problem', (error: AppError) => problemReply(error)],
  ...[...ingestRoutes(parts), ...otlpRoutes(parts), ...remoteWriteRoutes(parts)].flatMap(
    ({ path, refusal }) => (refusal === undefined ? [] : [[path, refusal] as const]),
  ),
]);

const codes = Object.keys(errorDefinitions) as ErrorCode[];

const contentTypes = ['application/json', 'application/x-protobuf', ''];
const asks = ({ status }: Reply) => status === 503 || status === 429;

describe('a reply that asks for another try', () => {
  const cases = [...formats].flatMap(([name, format]) =>
    contentTypes.map((type) => ({ name, type, format })),
  );

  it.each(cases)('says when: $name, $type', ({ type, format }) => {
    for (const code of codes) {
      const reply = format(new AppError(code, 'x'), type);
      expect([code, retryAfter(reply)]).toEqual([code, asks(reply) ? [1] : []]);
      // A fraction of a second is no number of seconds.
      const short = format(new AppError(code, 'x', { retryAfterSeconds: 1.2 }), type);
      expect([code, retryAfter(short)]).toEqual([code, asks(short) ? [2] : []]);
    }
  });

  it('says when, also while the service starts', () => {
    const forEachHeader: ServerRequest['forEachHeader'] = (visit) => visit('host', 'test');
    const request: Partial<ServerRequest> = { path: '/api/v1/query', queryString: '', forEachHeader };
    const { reply } = earlyReply(request as ServerRequest);
    expect([reply.status, retryAfter(reply)]).toEqual([503, [1]]);
  });

  it('is of a route that is among these', () => {
    expect(formats.size).toBeGreaterThanOrEqual(5);
  });
});
