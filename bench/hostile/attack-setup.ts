import { freePort } from '../../test/support/lib/child.ts';
import { otlpBody } from '../../test/support/otlp/numbered-otlp.ts';
import { buildWriteRequest } from '../../test/support/remote-write/remote-write-requests.ts';
import { authorization, Service } from '../../test/support/service/service.ts';
import { Attacker, type AttackerKey } from './attacker.ts';

/** The tenants that share the service: one attacks, and the other one must not notice. */
export const tenants = { attacker: 'mallory', victim: 'alice' } as const;

/** Where targets of the attacker may lead, and nowhere else. */
export const receiverAddress = '127.0.0.9';

export interface AttackSetupOptions {
  readonly queryTimeoutMs: number;
  /** Events in `app` of the attacker. */
  readonly events: number;
}

export interface Victim {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** How it signs in as a SQL client, from a network of its own. */
  readonly sqlClient: SqlClientOptions;
}

export interface SqlClientOptions {
  readonly port: number;
  readonly localAddress: string;
  readonly user: string;
  readonly secret: string;
  readonly database: string;
}

/** A service with two tenants, and some data of each kind in both. */
export interface AttackSetup {
  readonly service: Service;
  readonly victim: Victim;
  /**
   * Each attack has its own attacker. Its readers get new keys, since a key whose query did not stop is
   * paused for a while.
   */
  attacker(): Promise<Attacker>;
}

/** Fields of the dataset `wide`, named `f0`, `f1`, …. */
const wideFields = 900;
const eventsPerRequest = 10_000;

export async function openAttackSetup({ queryTimeoutMs, events }: AttackSetupOptions): Promise<AttackSetup> {
  const pgPort = await freePort();
  const service = await Service.start({
    env: {
      MILLRACE_PG_ADDR: `127.0.0.1:${pgPort}`,
      MILLRACE_MULTI_TENANT: 'true',
      MILLRACE_QUERY_TIMEOUT_MS: String(queryTimeoutMs),
      MILLRACE_FLUSH_INTERVAL_MS: '200',
      MILLRACE_TARGET_ALLOWED_NETWORKS: `${receiverAddress}/32`,
    },
  });
  try {
    const root = new Administrator(service);
    for (const tenant of Object.values(tenants)) {
      await root.send('PUT', `/api/v1/tenants/${tenant}`, 'default');
      await fill(service, tenant, tenant === tenants.attacker ? events : 100);
    }
    await attackerRoles(root);
    const writers = {
      ingestor: await root.key(tenants.attacker, 'ingestor'),
      admin: await root.key(tenants.attacker, 'admin'),
      exporter: await root.key(tenants.attacker, 'exporter'),
    };
    await root.role(tenants.victim, 'all', [{ privilege: 'admin' }]);
    const victimKey = await root.key(tenants.victim, 'all');
    await service.drained();
    return {
      service,
      victim: {
        url: service.url,
        headers: { 'x-p-tenant': tenants.victim, 'x-api-key': victimKey.value },
        sqlClient: {
          port: pgPort,
          localAddress: '127.0.0.2',
          user: victimKey.name,
          secret: victimKey.value,
          database: tenants.victim,
        },
      },
      attacker: async () => {
        const readers = {
          reader: await root.key(tenants.attacker, 'reader'),
          analyst: await root.key(tenants.attacker, 'analyst'),
        };
        return new Attacker({
          port: service.port,
          pgPort,
          tenant: tenants.attacker,
          keys: { ...writers, ...readers },
        });
      },
    };
  } catch (error) {
    await service.dispose();
    throw error;
  }
}

async function attackerRoles(root: Administrator): Promise<void> {
  const roles = {
    reader: [{ privilege: 'reader', resource: { dataset: 'app', tag: 'level=info' } }],
    analyst: [{ privilege: 'reader' }],
    ingestor: [{ privilege: 'ingestor' }],
    admin: [{ privilege: 'admin' }],
    exporter: [{ privilege: 'exporter' }, { privilege: 'reader' }],
  };
  for (const [name, privileges] of Object.entries(roles)) await root.role(tenants.attacker, name, privileges);
}

async function fill(service: Service, tenant: string, events: number): Promise<void> {
  const client = service.within(tenant);
  const levels = ['info', 'info', 'warn', 'error'];
  for (let first = 0; first < events; first += eventsPerRequest) {
    const some = Array.from({ length: Math.min(eventsPerRequest, events - first) }, (_, index) => ({
      level: levels[index % levels.length],
      num: first + index,
      text: `line ${first + index} of the log, with ${index % 97} words`,
      mixed: index % 2 === 0 ? index : `text ${index}`,
      document: JSON.stringify({ a: { b: [index, 'x'] } }),
    }));
    await client.ingest('app', some);
  }
  const wide = Object.fromEntries(Array.from({ length: wideFields }, (_, index) => [`f${index}`, index]));
  await client.ingest(
    'wide',
    Array.from({ length: 10 }, () => ({ level: 'info', ...wide })),
  );
  const timestampMs = Date.now();
  const samples = [{ value: 1, timestampMs }];
  const series = Array.from({ length: 100 }, (_, index) => ({
    labels: { __name__: `metric_${index % 10}`, instance: `host-${index}` },
    samples,
  }));
  await client.remoteWrite(buildWriteRequest(series) as Buffer<ArrayBuffer>, 'samples');
  for (const [signal, kind] of [
    ['logs', 'logs'],
    ['traces', 'spans'],
  ] as const) {
    await client.otlp(
      signal,
      otlpBody({ kind, number: 1, rows: 100, acknowledged: false }, timestampMs),
      signal,
    );
  }
}

/** The root administrator. */
class Administrator {
  readonly #service: Service;
  #keys = 0;

  constructor(service: Service) {
    this.#service = service;
  }

  async send(method: string, path: string, tenant: string, body?: unknown): Promise<string> {
    const reply = await fetch(this.#service.url + path, {
      method,
      headers: {
        authorization,
        'x-p-tenant': tenant,
        'content-type': 'application/json',
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await reply.text();
    if (!reply.ok) throw new Error(`${method} ${path}: ${reply.status} ${text}`);
    return text;
  }

  async role(tenant: string, name: string, privileges: unknown): Promise<void> {
    await this.send('PUT', `/api/v1/role/${name}`, tenant, privileges);
  }

  async key(tenant: string, role: string): Promise<AttackerKey> {
    this.#keys += 1;
    const body = { keyName: `${role}-${this.#keys}`, roles: [role] };
    const text = await this.send('POST', '/api/console/v1/apikeys', tenant, body);
    return { name: body.keyName, value: (JSON.parse(text) as { apiKey: string }).apiKey };
  }
}
