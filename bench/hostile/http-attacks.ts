import type { Answer } from './answer.ts';
import { type Attack, flood, pick, repeated, type Size, wrapped } from './attack.ts';
import type { Attacker } from './attacker.ts';

/** Attacks on the code that reads requests: framing, headers, paths, connections. */

const framingCodes = ['bad_request', 'bad_header', 'headers_too_large'];

/** A request as text. */
const request = (line: string, headers: readonly string[] = [], body = ''): string =>
  `${line}\r\nhost: x\r\n${headers.map((each) => `${each}\r\n`).join('')}\r\n${body}`;

const headersOf = (attacker: Attacker, party: 'reader' | 'ingestor'): string[] =>
  Object.entries(attacker.credentials(party)).map(([name, value]) => `${name}: ${value}`);

/**
 * Each on its own connection. A connection without a reply is closed after ten seconds; the tests do not wait
 * that long.
 */
const each = async (attacker: Attacker, texts: readonly string[], size: Size): Promise<readonly Answer[]> => {
  const waitMs = pick([12_000, 1000], size);
  const answers = (await Promise.all(texts.map((text) => attacker.raw([text], { waitMs })))).flat();
  return size === 'full' ? answers : answers.map(leftIfNone);
};

/** Nobody waits for the answer. */
const leftIfNone = (answer: Answer): Answer => (answer.status === 'none' ? { status: 'left' } : answer);

const get = (path: string, headers: Readonly<Record<string, string | readonly string[]>> = {}) =>
  ({ as: 'reader', path, headers }) as const;

export const httpAttacks: readonly Attack[] = [
  {
    name: 'framing',
    aim: 'two lengths, two encodings, chunks that are none: what follows must not become a request of its own',
    mayClose: true,
    run: async (attacker) => {
      const smuggled = request('GET /api/v1/liveness HTTP/1.1');
      const bodies: ReadonlyArray<readonly [readonly string[], string]> = [
        [['content-length: 2', 'content-length: 50'], `[]${smuggled}`],
        [['content-length: 2, 50'], `[]${smuggled}`],
        [['transfer-encoding: chunked', 'transfer-encoding: chunked'], `0\r\n\r\n${smuggled}`],
        [['transfer-encoding: xchunked'], `0\r\n\r\n${smuggled}`],
        [['transfer-encoding: gzip, chunked'], `0\r\n\r\n${smuggled}`],
        [['transfer-encoding: chunked', 'content-length: 5'], `0\r\n\r\n${smuggled}`],
        [['content-length: +2'], `[]${smuggled}`],
        [['content-length: -1'], `[]${smuggled}`],
        [['content-length: 0x2'], `[]${smuggled}`],
        [['content-length: 99999999999999999999'], `[]${smuggled}`],
        [['transfer-encoding: chunked'], `zz\r\n[]\r\n0\r\n\r\n${smuggled}`],
        [['transfer-encoding: chunked'], `fffffffffffffffff\r\n[]\r\n0\r\n\r\n${smuggled}`],
        [['content-length : 2'], `[]${smuggled}`],
        [['content-length: 2\n transfer-encoding: chunked'], `[]${smuggled}`],
      ];
      const credentials = [
        ...headersOf(attacker, 'ingestor'),
        'x-p-stream: app',
        'content-type: application/json',
      ];
      const answers = await Promise.all(
        bodies.map(async ([framing, body]): Promise<Answer> => {
          const text = request('POST /api/v1/ingest HTTP/1.1', [...credentials, ...framing], body);
          const [first, second] = await attacker.raw([text], { replies: 2, waitMs: 1500 });
          // The bytes after the body were answered, too. That is never allowed, so the result is a status
          // that no reply may have.
          if (second !== undefined) return { status: 500, code: 'request_smuggled' };
          return first?.status === 'none' ? { status: 'closed' } : (first ?? { status: 'none' });
        }),
      );
      return answers;
    },
  },
  {
    name: 'header-flood',
    aim: 'thousands of headers, one of a megabyte, and 30 KB of them 500 times',
    mayClose: true,
    codes: framingCodes,
    run: async (attacker, size) => [
      ...(await each(
        attacker,
        [
          request('GET /api/v1/liveness HTTP/1.1', Array<string>(5000).fill('a: b')),
          request('GET /api/v1/liveness HTTP/1.1', [`a: ${'x'.repeat(1_000_000)}`]),
          request('GET /api/v1/liveness HTTP/1.1', [`${'x'.repeat(1_000_000)}: a`]),
          request('GET /api/v1/liveness HTTP/1.1', Array<string>(50_000).fill('a:')),
        ],
        size,
      )),
      ...(await flood(pick([500, 20], size), 50, async () => {
        const [answer] = await attacker.raw([
          request('GET /api/v1/liveness HTTP/1.1', [`a: ${'x'.repeat(30_000)}`]),
        ]);
        return answer ?? { status: 'none' as const };
      })),
    ],
  },
  {
    name: 'header-endless',
    aim: '50 connections that send headers without an end, a few hundred KB each',
    mayClose: true,
    codes: framingCodes,
    run: async (attacker, size) => {
      const pieces = [
        'GET /api/v1/liveness HTTP/1.1\r\nhost: x\r\n',
        ...Array<string>(pick([200, 10], size)).fill(`a: ${'x'.repeat(4000)}\r\n`),
      ];
      const answers = await flood(pick([50, 3], size), 50, () =>
        attacker.raw(pieces, { pauseMs: 5, waitMs: 500 }),
      );
      return answers.flat().map(leftIfNone);
    },
  },
  {
    name: 'slowloris',
    aim: '1,000 connections that send a header a second and never an end',
    mayClose: true,
    run: async (attacker, size) => {
      const pieces = [
        'GET /api/v1/liveness HTTP/1.1\r\n',
        ...Array<string>(pick([9, 1], size)).fill('a: b\r\n'),
      ];
      const answers = await flood(pick([1000, 30], size), 1000, () =>
        attacker.raw(pieces, { pauseMs: pick([1000, 50], size), waitMs: 1 }),
      );
      return answers.flat().map(leftIfNone);
    },
  },
  {
    name: 'connections',
    aim: '4,000 connections that say nothing',
    run: async (attacker, size) => [
      await attacker.hold(pick([4000, 100], size), '', pick([6000, 200], size)),
    ],
  },
  {
    name: 'connections-churn',
    aim: '5,000 connections that come and go at once',
    run: (attacker, size) =>
      flood(pick([5000, 100], size), 100, () => attacker.send({ path: '/api/v1/liveness', leaveAfterMs: 1 })),
  },
  {
    name: 'pipelining',
    aim: '10,000 requests in a row over one connection without waiting, ten times; queries among them',
    mayClose: true,
    run: async (attacker, size) => {
      const count = pick([10_000, 200], size);
      const body = '{"query":"SELECT count(*) FROM app"}';
      const query = request(
        'POST /api/v1/query HTTP/1.1',
        [
          ...headersOf(attacker, 'reader'),
          'content-type: application/json',
          `content-length: ${body.length}`,
        ],
        body,
      );
      const some = async (text: string): Promise<Answer> => {
        const [answer] = await attacker.raw([text.repeat(count)], { replies: 1, waitMs: 8000 });
        return answer ?? { status: 'none' };
      };
      return Promise.all([
        ...Array.from({ length: 5 }, () => some(request('GET /api/v1/liveness HTTP/1.1'))),
        ...Array.from({ length: 5 }, () => some(query)),
      ]);
    },
  },
  {
    name: 'chunks',
    aim: 'a body in 500,000 chunks of one byte, and extensions of chunks of a megabyte',
    mayClose: true,
    run: (attacker, size) => {
      const head = request('POST /api/v1/ingest HTTP/1.1', [
        ...headersOf(attacker, 'ingestor'),
        'x-p-stream: app',
        'content-type: application/json',
        'transfer-encoding: chunked',
      ]);
      const count = pick([500_000, 20_000], size);
      return each(
        attacker,
        [
          `${head}1\r\n[\r\n${'1\r\n \r\n'.repeat(count)}1\r\n]\r\n0\r\n\r\n`,
          `${head}2;a=${'x'.repeat(count)}\r\n[]\r\n0\r\n\r\n`,
          `${head}2\r\n[]\r\n0\r\n${'a: b\r\n'.repeat(count / 10)}\r\n`,
          `${head}${'0'.repeat(count)}2\r\n[]\r\n0\r\n\r\n`,
        ],
        size,
      );
    },
  },
  {
    name: 'paths',
    aim: 'paths of 30 KB, of percent encodings that are none, of dots, and HTTP of other versions',
    mayClose: true,
    run: async (attacker, size) => {
      const paths = [
        `/${'a'.repeat(30_000)}`,
        `/${'a/'.repeat(15_000)}`,
        `/api/v1/logstream/${'%'.repeat(10_000)}/schema`,
        `/api/v1/logstream/${'%ff'.repeat(9000)}/schema`,
        `/api/v1/logstream/${'%41'.repeat(9000)}/schema`,
        `/api/v1/role/${'../'.repeat(9000)}`,
      ];
      return [
        ...(await Promise.all(paths.map((path) => attacker.send(get(path))))),
        ...(await each(
          attacker,
          [
            'GET / HTTP/0.9\r\n\r\n',
            'GET / HTTP/1.0\r\n\r\n',
            'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
            '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n',
            `${'A'.repeat(20_000)} / HTTP/1.1\r\nhost: x\r\n\r\n`,
            '\r\n'.repeat(10_000),
          ],
          size,
        )),
      ];
    },
  },
  {
    name: 'query-strings',
    aim: 'query strings of 30 KB with thousands of parameters',
    mayClose: true,
    run: (attacker) => {
      const many = repeated(5000, (i) => `a${i}=1`, '&');
      const paths = [
        `/api/v1/query?${many}`,
        `/api/v1/query?${'&'.repeat(30_000)}`,
        `/api/v1/query?format=${'%20'.repeat(9000)}`,
        `/api/v1/query?${'%'.repeat(30_000)}`,
        `/api/v1/query?${'fields=true&'.repeat(2500)}`,
      ];
      return flood(paths.length * 10, 10, (index) =>
        attacker.query('SELECT 1', { path: paths[index % paths.length] ?? '' }),
      );
    },
  },
  {
    name: 'lists-in-headers',
    aim: 'Accept, ranges, cookies and other lists of thousands of entries, 200 times',
    mayClose: true,
    run: (attacker, size) => {
      const lists: Readonly<Record<string, string>>[] = [
        { accept: repeated(3000, (i) => `a/b;q=0.${i}`, ',') },
        { accept: `${' '.repeat(29_000)}x` },
        { accept: `text/csv;${' '.repeat(20_000)};q=x` },
        { range: `bytes=${repeated(4000, (i) => `${i}-${i}`, ',')}` },
        { cookie: repeated(4000, (i) => `c${i}=1`, '; ') },
        { cookie: `millrace-session=${'x'.repeat(28_000)}` },
        { 'content-type': `application/json;${' '.repeat(28_000)}x` },
        { 'content-encoding': 'gzip,'.repeat(5000) },
        { 'x-forwarded-for': repeated(4000, (i) => `10.0.${i % 256}.1`, ', ') },
        { forwarded: repeated(1500, (i) => `for=10.0.0.${i % 256}`, ', ') },
        { 'x-forwarded-proto': 'https,'.repeat(4000) },
        { origin: `http://${'a.'.repeat(14_000)}` },
        { 'accept-encoding': 'gzip;q=0.1,'.repeat(2500) },
        { 'if-none-match': '"a",'.repeat(7000) },
      ];
      return flood(pick([15, 1], size) * lists.length, 20, (index) =>
        attacker.query('SELECT 1', { headers: lists[index % lists.length] ?? {} }),
      );
    },
  },
  {
    name: 'methods',
    aim: 'each method on each path, with bodies where none belongs',
    mayClose: true,
    run: async (attacker) => {
      const paths = [
        '/api/v1/liveness',
        '/api/v1/query',
        '/metrics',
        '/api/v1/roles',
        '/v1/logs',
        '/api/v1/o/login',
        '/',
      ];
      const methods = ['GET', 'POST', 'PUT', 'DELETE', 'PATCH', 'HEAD'] as const;
      return Promise.all(
        paths.flatMap((path) =>
          methods.map((method) =>
            attacker.send({
              as: 'admin',
              method,
              path,
              ...(method === 'HEAD' ? {} : { body: wrapped(1000, '[', '', ']') }),
            }),
          ),
        ),
      );
    },
  },
  {
    name: 'metrics-flood',
    aim: '/metrics, 300 times, 30 at a time: each is made anew',
    run: (attacker, size) =>
      flood(pick([300, 10], size), 30, () => attacker.send({ as: 'reader', path: '/metrics' })),
  },
  {
    name: 'expect-continue',
    aim: 'requests that wait for 100-continue, and bodies that never come',
    mayClose: true,
    run: async (attacker, size) => {
      const head = request('POST /api/v1/ingest HTTP/1.1', [
        ...headersOf(attacker, 'ingestor'),
        'x-p-stream: app',
        'expect: 100-continue',
        'content-length: 1000000',
      ]);
      const answers = await flood(pick([100, 5], size), 100, () =>
        attacker.raw([head], { waitMs: pick([3000, 200], size) }),
      );
      return answers
        .flat()
        .map((answer) => (answer.status === 100 ? { status: 'left' } : leftIfNone(answer)));
    },
  },
];
