import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { administer, make, remove } from './administer.ts';
import type { Answer } from './answer.ts';
import { type Attack, flood, pick, type Size } from './attack.ts';
import { receiverAddress } from './attack-setup.ts';
import type { Attacker } from './attacker.ts';

/** Attacks by targets, which the service calls, and by silences, whose expressions it runs. */

const path = '/api/v1/targets';
const silences = '/api/v1/silences';
const changes = [
  'bad_target',
  'target_refused',
  'bad_json',
  'bad_request',
  'body_too_large',
  'document_too_large',
  'document_changed',
  'too_many_documents',
  'overloaded',
  'not_found',
  'target_in_use',
];

const webhook = (endpoint: string, members: object = {}) => ({
  name: 'hostile',
  type: 'webhook',
  endpoint,
  ...members,
});

/** Loopback, link-local, private and other special addresses, as people have spelled them. */
const hosts = [
  '127.0.0.1',
  '127.1',
  '127.0.1',
  '2130706433',
  '017700000001',
  '0x7f000001',
  '0x7f.0.0.1',
  '0177.0.0.01',
  '127.0.0.1.',
  '0',
  '0.0.0.0',
  '１２７.０.０.１',
  '127。0。0。1',
  '①②⑦.⓪.⓪.①',
  'localhost',
  'LOCALHOST.',
  '%6c%6f%63%61%6c%68%6f%73%74',
  '[::1]',
  '[::]',
  '[0:0:0:0:0:0:0:1]',
  '[::ffff:127.0.0.1]',
  '[::ffff:7f00:1]',
  '[::127.0.0.1]',
  '[64:ff9b::7f00:1]',
  '[64:ff9b:1::1]',
  '[2002:7f00:1::]',
  '[fe80::1]',
  '[fc00::1]',
  '[fd12:3456::1]',
  '[ff02::1]',
  '169.254.169.254',
  '0xa9fea9fe',
  '[::ffff:169.254.169.254]',
  '10.0.0.1',
  '172.16.0.1',
  '192.168.1.1',
  '100.64.0.1',
  '198.18.0.1',
  '192.0.0.8',
  '224.0.0.1',
  '240.0.0.1',
  '255.255.255.255',
];

/** What must be refused has no good answer. */
const refusedAlone = (answers: readonly Answer[]): readonly Answer[] =>
  answers.map((answer) => (answer.status === 200 ? { status: 'none' } : answer));

/**
 * Makes a target that nothing may be sent to. A name that nobody resolves now is taken, since it may be known
 * later: then its test must not be delivered.
 */
async function unreached(attacker: Attacker, endpoint: string): Promise<readonly Answer[]> {
  const { answer, id } = await make(attacker, path, webhook(endpoint));
  if (id === '') return [answer];
  let isDelivered = true;
  const tested = await attacker.send({
    as: 'admin',
    method: 'POST',
    path: `${path}/${id}/test`,
    onText: (text) => {
      isDelivered = (JSON.parse(text) as { delivered: boolean }).delivered;
    },
  });
  const deleted = await remove(attacker, `${path}/${id}`);
  return [answer, tested.status === 200 && isDelivered ? { status: 'none' } : tested, deleted];
}

/** Tests targets that lead to a receiver which answers like this. */
async function withReceiver(
  attacker: Attacker,
  size: Size,
  answer: (reply: ServerResponse) => void,
  sizes: readonly [full: number, small: number],
): Promise<readonly Answer[]> {
  const server = createServer((request, reply) => {
    request.resume();
    answer(reply);
  });
  await new Promise<void>((resolve) => server.listen(0, receiverAddress, resolve));
  try {
    const { port } = server.address() as AddressInfo;
    const target = await make(attacker, path, webhook(`http://${receiverAddress}:${port}/`));
    const tested = await flood(pick(sizes, size), 50, () =>
      attacker.send({
        as: 'admin',
        method: 'POST',
        path: `${path}/${target.id}/test`,
        leaveAfterMs: pick([6000, 500], size),
      }),
    );
    const asked = await flood(pick([50, 4], size), 10, () =>
      attacker.send({ as: 'admin', path: `${path}/${target.id}/deliveries` }),
    );
    return [target.answer, ...tested, ...asked, await remove(attacker, `${path}/${target.id}`)];
  } finally {
    server.closeAllConnections();
    await new Promise((closed) => server.close(closed));
  }
}

const matcher = (value: string) => ({ name: 'host', value, isRegex: true, isEqual: true });
const silence = (values: readonly string[]) => ({
  matchers: [{ name: 'zone', value: 'x', isRegex: false, isEqual: true }, ...values.map(matcher)],
  endsAt: '2100-01-01T00:00:00Z',
});

/** Expressions of at most 1,000 characters that take long to compile or to match, or large programs. */
const expressions = [
  '(a{1000})'.repeat(110),
  '(((a{10}){10}){10})',
  '((a{30}){30})',
  '((((a{1000}){1000}){1000}){1000})',
  '(a*)*b',
  `${'a?'.repeat(240)}`,
  '(((((a*)*)*)*)*)*'.repeat(50),
  '(a|a|a|a|a|a|a|a|a|a)*'.repeat(20),
  `(?i)${'[\\pL]'.repeat(190)}`,
  '\\PL{1000}'.repeat(100),
  `${'('.repeat(490)}${')'.repeat(490)}`,
  '('.repeat(1000),
  '[['.repeat(400),
  '(?P<a>'.repeat(100),
  '\\Q'.repeat(400),
  '(a)\\1',
  '(?=a)',
  '.*.*.*.*.*.*.*.*.*.*.*=.*',
];

export const notificationAttacks: readonly Attack[] = [
  {
    name: 'target-addresses',
    aim: 'targets in the network of the operator: loopback, private and special addresses in all spellings',
    codes: [...changes, 'target_unreachable'],
    run: async (attacker, size) => {
      const urls = hosts.flatMap((host) => [`http://${host}/`, `https://${host}:9000/x`]);
      const others = [
        'file:///etc/passwd',
        'gopher://127.0.0.1/',
        `http://user:password@${receiverAddress}/`,
        `http://${receiverAddress}@127.0.0.1/`,
        'http://127.0.0.1#@example.com/',
        'http:127.0.0.1',
        '//127.0.0.1/',
        'http://',
      ];
      const all = [...urls, ...others];
      const made = await flood(pick([all.length * 5, all.length], size), 20, (index) =>
        unreached(attacker, all[index % all.length] ?? ''),
      );
      const slack = await Promise.all(
        [
          'https://hooks.slack.com.evil.example/x',
          'https://evil.example/hooks.slack.com',
          'http://hooks.slack.com/x',
        ].map((endpoint) => administer(attacker, path, { name: 'x', type: 'slack', endpoint }, 'POST')),
      );
      return [...made.flat(), ...refusedAlone(slack)];
    },
  },
  {
    name: 'target-bodies',
    aim: 'bodies that are no target: of many headers, of headers that end others, of secrets and recipients',
    codes: changes,
    run: async (attacker) => {
      const to = `http://${receiverAddress}:9/`;
      const headers = (some: Readonly<Record<string, string>>) => webhook(to, { headers: some });
      return refusedAlone(
        await Promise.all(
          [
            webhook(`http://${receiverAddress}/${'x'.repeat(50_000)}`),
            webhook(to, { name: 'x'.repeat(50_000) }),
            webhook(to, { filler: 'x'.repeat(200_000) }),
            headers(Object.fromEntries(Array.from({ length: 5000 }, (_, index) => [`a${index}`, 'x']))),
            headers({ 'x\r\nhost': 'a' }),
            headers({ x: 'a\r\n\r\nGET / HTTP/1.1' }),
            headers({ 'Transfer-Encoding': 'chunked' }),
            headers({ HOST: 'inside' }),
            headers({ 'x-big': 'x'.repeat(10_000) }),
            webhook(to, { signingSecret: Array<string>(1000).fill('whsec_x') }),
            webhook(to, { signingSecret: `whsec_${'A'.repeat(5000)}` }),
            { name: 'x', type: 'email', recipients: Array<string>(5000).fill('a@example.com') },
            { name: 'x', type: 'email', recipients: ['a@example.com\r\nBcc: b@example.com'] },
            { name: 'x', type: 'email', recipients: [`${'a.'.repeat(120)}@${'b.'.repeat(120)}`] },
            { name: 'x', type: 'pagerduty', routingKey: 'x'.repeat(50_000) },
            { name: 'x', type: 'alertManager', endpoints: Array<string>(500).fill(to) },
          ].map((body) => administer(attacker, path, body, 'POST')),
        ),
      );
    },
  },
  {
    name: 'targets-many',
    aim: '220 targets, more than there may be, and the list of them, whose secrets are opened each time',
    codes: changes,
    run: async (attacker, size) => {
      const headers = Object.fromEntries(
        Array.from({ length: 40 }, (_, index) => [`X-${index}`, 'x'.repeat(1000)]),
      );
      const made = await flood(pick([220, 6], size), 40, (index) =>
        make(attacker, path, webhook(`http://${receiverAddress}:9/${index}`, { headers })),
      );
      const listed = await flood(pick([200, 4], size), 25, () => attacker.send({ as: 'admin', path }));
      const ids = made.map(({ id }) => id).filter((id) => id !== '');
      const deleted = await flood(ids.length, 40, (index) => remove(attacker, `${path}/${ids[index]}`));
      return [...made.map(({ answer }) => answer), ...listed, ...deleted];
    },
  },
  {
    name: 'target-endless',
    aim: '300 tests of a target whose reply has no end',
    codes: changes,
    run: (attacker, size) =>
      withReceiver(
        attacker,
        size,
        (reply) => {
          const piece = Buffer.alloc(64 * 1024, 'x');
          const more = (): void => {
            while (!reply.destroyed && reply.write(piece));
            if (!reply.destroyed) reply.once('drain', more);
          };
          reply.writeHead(200);
          more();
        },
        [300, 6],
      ),
  },
  {
    name: 'target-headers',
    aim: '300 tests of a target whose reply has a megabyte of headers, or redirects to the service itself',
    codes: changes,
    run: (attacker, size) => {
      let replies = 0;
      return withReceiver(
        attacker,
        size,
        (reply) => {
          replies += 1;
          if (replies % 2 === 0)
            reply.writeHead(302, { location: `http://127.0.0.1:${attacker.port}/metrics` }).end();
          else reply.writeHead(200, { 'x-long': 'x'.repeat(1_000_000) }).end();
        },
        [300, 6],
      );
    },
  },
  {
    name: 'target-stalled',
    aim: '300 tests of a target that takes the request and never answers: places of deliveries',
    codes: changes,
    run: (attacker, size) => withReceiver(attacker, size, () => {}, [300, 12]),
  },
  {
    name: 'silence-expressions',
    aim: 'silences of 20 regular expressions that are large, slow or none, while an alert of long labels fires',
    codes: [...changes, 'bad_silence', 'bad_alert'],
    run: async (attacker, size) => {
      const alert = await make(attacker, '/api/v1/alerts', {
        title: 'silenced',
        query: `SELECT lpad('', 499, 'a') || num AS host, 'x' AS zone, num AS value FROM app LIMIT 100`,
        evalConfig: { rollingWindow: { evalStart: '1h' } },
        frequencySeconds: 5,
        delaySeconds: 0,
      });
      const made: string[] = [];
      const answers = await flood(pick([expressions.length * 10, expressions.length], size), 20, (index) =>
        attacker.send({
          as: 'admin',
          method: 'POST',
          path: silences,
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify(
            silence(
              Array<string>(index % 2 === 0 ? 19 : 1).fill(
                (expressions[index % expressions.length] ?? '').slice(0, 1000),
              ),
            ),
          ),
          onText: (text) => made.push((JSON.parse(text) as { silenceID: string }).silenceID),
        }),
      );
      const listed = await flood(pick([100, 4], size), 10, () =>
        attacker.send({ as: 'admin', path: silences }),
      );
      const deleted = await flood(made.length, 20, (index) => remove(attacker, `${silences}/${made[index]}`));
      return [
        alert.answer,
        ...answers,
        ...listed,
        ...deleted,
        await remove(attacker, `/api/v1/alerts/${alert.id}`),
      ];
    },
  },
];
