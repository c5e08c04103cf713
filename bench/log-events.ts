import { seededRandom } from '../test/support/lib/random.ts';

const levels = ['info', 'info', 'info', 'info', 'info', 'info', 'info', 'warn', 'debug', 'error'];
const services = [
  'checkout',
  'cart',
  'gateway',
  'auth',
  'search',
  'billing',
  'inventory',
  'shipping',
  'users',
  'mailer',
];
const methods = ['GET', 'GET', 'GET', 'POST', 'PUT', 'DELETE'];
const paths = [
  '/api/v1/orders',
  '/api/v1/cart/items',
  '/login',
  '/search',
  '/api/v1/users',
  '/healthz',
  '/static/app.js',
];
const phrases = [
  'connection pool exhausted while waiting for a free connection to',
  'request completed for',
  'cache miss for key',
  'retrying after transient failure of',
  'slow query detected on',
  'user session refreshed for',
  'payload accepted and queued for',
  'background job finished for',
];
const hourMs = 3_600_000;
const hours = 48;
const eventsOfBody = 10_000;
const eventsOfTrace = 5;
/** More than any has. */
const maxEventBytes = 512;

/**
 * Log events of services over the last two days, each with ten fields and 330 bytes of JSON, the same for a
 * number of them but for their times. One has a word that no other has.
 */
export class LogEvents {
  readonly count: number;
  /** The time of the last one, rounded up; milliseconds since 1970. */
  readonly endMs: number;

  constructor(count: number, endMs = Math.floor(Date.now() / 60_000) * 60_000) {
    this.count = count;
    this.endMs = endMs;
  }

  hoursBeforeEnd(before: number): string {
    return new Date(this.endMs - before * hourMs).toISOString();
  }

  /** The id of the trace that an event belongs to. */
  traceOf(index: number): string {
    const random = seededRandom(Math.floor(index / eventsOfTrace));
    const part = (): string =>
      random
        .integer(0, 2 ** 32 - 1)
        .toString(16)
        .padStart(8, '0');
    return part() + part() + part() + part();
  }

  /** A line of JSON for each event, 10,000 in each body. */
  *bodies(): Generator<{ readonly events: number; readonly lines: Uint8Array<ArrayBuffer> }> {
    const random = seededRandom(1);
    const one = (items: readonly string[]): string => items[random.integer(0, items.length - 1)] ?? '';
    const stepMs = (hours * hourMs) / this.count;
    const startMs = this.endMs - hours * hourMs;
    const rare = Math.floor(this.count * 0.7654321);
    let trace = '';
    for (let first = 0; first < this.count; first += eventsOfBody) {
      // Written as they are made: an array of all of them costs more in collecting garbage than they do.
      const body = Buffer.allocUnsafe(eventsOfBody * maxEventBytes);
      const end = Math.min(this.count, first + eventsOfBody);
      let length = 0;
      for (let index = first; index < end; index += 1) {
        if (index % eventsOfTrace === 0 || trace === '') trace = this.traceOf(index);
        const service = one(services);
        const ms = Math.round(Math.exp(random.integer(0, 8000) / 1000) * 100) / 100;
        const message = `${one(phrases)} ${service}-${random.integer(0, 4999)} in ${ms} ms, attempt ${random.integer(0, 3)}, order ${random.integer(0, 20_000_000)} region eu-west-${random.integer(0, 2)}${index === rare ? ' Zyzzyva happened' : ''}`;
        length += body.write(
          `{"at":"${new Date(startMs + index * stepMs).toISOString()}","level":"${one(levels)}","service":"${service}","host":"node-${random.integer(0, 63)}","method":"${one(methods)}","path":"${one(paths)}","status":${200 + random.integer(0, 4) * 75},"duration_ms":${ms},"user_id":"user-${random.integer(0, 99_999)}","trace_id":"${trace}","message":"${message}"}\n`,
          length,
          'latin1',
        );
      }
      yield { events: end - first, lines: body.subarray(0, length) };
    }
  }
}
