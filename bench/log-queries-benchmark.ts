import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { Child, freePort, onPath, removeFolder, temporaryFolder } from '../test/support/lib/child.ts';
import { answers, authorization, Service } from '../test/support/service/service.ts';
import { LogEvents } from './log-events.ts';
import { markdownTable } from './markdown-table.ts';
import { cpuSeconds, diskBytes, processTree, residentBytes, unlessGone } from './proc.ts';
import { percentile } from './sender.ts';

/**
 * The queries of a page that shows logs, cold and warm, in Millrace and, where `victoria-logs` is on the
 * PATH, in VictoriaLogs with the same events, which both take as JSON over HTTP.
 *
 * All stores are filled at the same time, each with the same bodies. With a folder for their data, filling
 * them and asking them can be two runs: the first takes an hour for 100 million events, and says what it took
 * in the folder's `loaded.json`.
 *
 * Cold: the program was started again and asked for a time without events, and the kernel dropped what it had
 * cached of its files. Warm: the same query again, one after another.
 */

interface LogQuery {
  readonly name: string;
  /** Hours that it looks at, before the last event. */
  readonly hours: readonly [from: number, to: number];
  readonly sql: string;
  readonly logsql: string;
}

const word = 'Zyzzyva';
const all = [48, 0] as const;
const shown = 'p_timestamp, level, service, message';

const queriesOf = (events: LogEvents): readonly LogQuery[] => [
  {
    name: 'latest 100',
    hours: [1, 0],
    sql: `SELECT ${shown} FROM logs ORDER BY p_timestamp DESC LIMIT 100`,
    logsql: '* | fields _time, level, service, _msg | sort by (_time desc) limit 100',
  },
  {
    name: 'events by minute, of an hour',
    hours: [1, 0],
    sql: "SELECT date_trunc('minute', p_timestamp) AS t, count(*) AS n FROM logs GROUP BY t ORDER BY t",
    logsql: '* | stats by (_time:1m) count() n | sort by (_time)',
  },
  {
    name: 'top 10 users, of a day',
    hours: [24, 0],
    sql: 'SELECT user_id, count(*) AS n FROM logs GROUP BY user_id ORDER BY n DESC LIMIT 10',
    logsql: '* | stats by (user_id) count() n | sort by (n desc) limit 10',
  },
  {
    name: 'events by level, of a day',
    hours: [24, 0],
    sql: 'SELECT level, count(*) AS n FROM logs GROUP BY level ORDER BY level',
    logsql: '* | stats by (level) count() n | sort by (level)',
  },
  {
    name: 'a word of one event, of all',
    hours: all,
    sql: `SELECT ${shown} FROM logs WHERE message LIKE '%${word}%'`,
    logsql: `${word} | fields _time, level, service, _msg`,
  },
  {
    name: 'two fields, of a day',
    hours: [24, 0],
    sql: "SELECT count(*) AS n FROM logs WHERE level = 'error' AND service = 'checkout'",
    logsql: 'level:=error service:=checkout | stats count() n',
  },
  {
    name: 'one trace, of all',
    hours: all,
    sql: `SELECT ${shown} FROM logs WHERE trace_id = '${events.traceOf(events.count >> 1)}' ORDER BY p_timestamp`,
    logsql: `trace_id:="${events.traceOf(events.count >> 1)}" | fields _time, level, service, _msg | sort by (_time)`,
  },
  {
    name: 'p99 by minute, of an hour',
    hours: [1, 0],
    sql: "SELECT date_trunc('minute', p_timestamp) AS t, percentile_cont(0.99) WITHIN GROUP (ORDER BY duration_ms) AS p FROM logs GROUP BY t ORDER BY t",
    logsql: '* | stats by (_time:1m) quantile(0.99, duration_ms) p | sort by (_time)',
  },
  {
    name: 'distinct users, of a day',
    hours: [24, 0],
    sql: 'SELECT count(DISTINCT user_id) AS n FROM logs',
    logsql: '* | stats count_uniq(user_id) n',
  },
  {
    name: 'errors of a minute, a day ago',
    hours: [24, 24 - 1 / 60],
    sql: `SELECT ${shown} FROM logs WHERE level = 'error' ORDER BY p_timestamp DESC LIMIT 100`,
    logsql: 'level:=error | fields _time, level, service, _msg | sort by (_time desc) limit 100',
  },
];

/** A running program that has the events, or gets them. */
interface LogStore {
  readonly dataDir: string;
  pid(): number;
  send(lines: Uint8Array<ArrayBuffer>): Promise<Response>;
  /** Returns when all that was sent can be found. */
  settled(): Promise<void>;
  /** How many rows the answer has. */
  ask(query: LogQuery, from: string, to: string): Promise<number>;
  restart(): Promise<void>;
  /** Ends the program; its data stay. */
  stop(): Promise<void>;
}

/** Makes a store in a folder, or opens the one that is there. */
type StartStore = (dataDir: string) => Promise<LogStore>;

const millraceStore =
  (searchFields: string | undefined): StartStore =>
  async (dataDir) => {
    const isNew = !existsSync(dataDir);
    const service = await Service.start({ dataDir, env: { MILLRACE_LOG_LEVEL: 'warn' } });
    if (isNew) {
      const made = await fetch(`${service.url}/api/v1/logstream/logs`, {
        method: 'PUT',
        headers: {
          authorization,
          'x-p-time-partition': 'at',
          ...(searchFields === undefined ? {} : { 'x-p-search-fields': searchFields }),
        },
      });
      if (!made.ok) throw new Error(`the dataset was not created: ${await made.text()}`);
    }
    return {
      dataDir,
      pid: () => service.child.pid,
      send: (body) =>
        fetch(`${service.url}/api/v1/ingest`, {
          method: 'POST',
          headers: { authorization, 'x-p-stream': 'logs', 'content-type': 'application/x-ndjson' },
          body,
        }),
      settled: () => service.drained(3_600_000),
      ask: async ({ sql }, startTime, endTime) => (await service.query(sql, { startTime, endTime })).length,
      restart: async () => {
        await service.stop();
        await service.restart(600_000);
      },
      stop: async () => {
        await service.stop();
      },
    };
  };

const victoriaLogsStore: StartStore = async (dataDir) => {
  const port = await freePort();
  const base = `http://127.0.0.1:${port}`;
  const launch = async (): Promise<Child> => {
    const started = await Child.start({
      name: 'victoria-logs',
      command: 'victoria-logs',
      args: [
        `-storageDataPath=${dataDir}`,
        `-httpListenAddr=127.0.0.1:${port}`,
        '-loggerLevel=WARN',
        // In place of 30 s: users of a day of 100 million events take longer beside other work.
        '-search.maxQueryDuration=10m',
      ],
    });
    await started.ready(() => answers(`${base}/health`));
    return started;
  };
  let child = await launch();
  const fields = new URLSearchParams({
    _stream_fields: 'service,host',
    _time_field: 'at',
    _msg_field: 'message',
  });
  return {
    dataDir,
    pid: () => child.pid,
    send: (body) =>
      fetch(`${base}/insert/jsonline?${fields}`, {
        method: 'POST',
        headers: { 'content-type': 'application/stream+json' },
        body,
      }),
    settled: async () => {
      await fetch(`${base}/internal/force_flush`);
      await sleep(5000);
    },
    ask: async ({ logsql }, start, end) => {
      const body = new URLSearchParams({ query: `_time:[${start}, ${end}) ${logsql}` });
      const reply = await fetch(`${base}/select/logsql/query`, { method: 'POST', body });
      const text = await reply.text();
      if (!reply.ok) throw new Error(`VictoriaLogs: ${reply.status} ${text}`);
      return text.split('\n').length - 1;
    },
    restart: async () => {
      await child.stop('SIGTERM');
      child = await launch();
    },
    stop: async () => {
      await child.stop('SIGTERM');
    },
  };
};

/** By the names of their folders, which also choose among them. */
const stores = {
  plain: { title: 'Millrace', start: millraceStore(undefined) },
  'search-fields': { title: 'Millrace, X-P-Search-Fields', start: millraceStore('message') },
  'victoria-logs': { title: 'VictoriaLogs', start: victoriaLogsStore },
} as const;

type StoreName = keyof typeof stores;

/** What `loaded.json` says: which events there are, and what each store took to get them. */
interface Loaded {
  readonly count: number;
  readonly endMs: number;
  readonly stores: readonly LoadedStore[];
}

interface LoadedStore {
  readonly name: StoreName;
  readonly cpuSeconds: number;
  readonly diskBytes: number;
}

const senders = 4;
const retryMs = 200;
const progressMs = 60_000;

/** Sends a body; if the store has no room for it now, it is sent again. */
async function sendUntilTaken(name: string, store: LogStore, lines: Uint8Array<ArrayBuffer>): Promise<void> {
  for (;;) {
    const reply = await store.send(lines);
    const text = await reply.text();
    if (reply.ok) return;
    if (reply.status !== 429 && reply.status !== 503) throw new Error(`${name}: ${reply.status} ${text}`);
    await sleep(retryMs);
  }
}

const quietSeconds = 20;
const maxQuietWaits = 30;

/** Waits until a store has done the merges that it does by itself, ten minutes at most. */
async function merged(store: LogStore): Promise<void> {
  for (let waits = 0; waits < maxQuietWaits; waits += 1) {
    const before = cpuSeconds(store.pid());
    await sleep(quietSeconds * 1000);
    if ((cpuSeconds(store.pid()) - before) / quietSeconds < 0.1) return;
  }
}

/** Fills new stores in the folder with the same events and stops them. */
async function load(folder: string, names: readonly StoreName[], events: LogEvents): Promise<Loaded> {
  const file = join(folder, loadedFile);
  if (existsSync(file)) throw new Error(`${file} is there: these stores are filled; use another folder`);
  const opened: { readonly name: StoreName; readonly store: LogStore }[] = [];
  for (const name of names) opened.push({ name, store: await stores[name].start(join(folder, name)) });
  const { count, endMs } = events;
  const began = performance.now();
  const bodies = events.bodies();
  let sent = 0;
  let shown = 0;
  const sender = async (): Promise<void> => {
    for (const body of bodies) {
      await Promise.all(opened.map(({ name, store }) => sendUntilTaken(name, store, body.lines)));
      sent += body.events;
      const tookMs = performance.now() - began;
      if (tookMs < shown + progressMs) continue;
      shown = tookMs;
      const cpu = opened.map(({ name, store }) => `${name} ${cpuSeconds(store.pid()).toFixed(0)} CPU s`);
      console.log(
        `${sent.toLocaleString('en')} of ${count.toLocaleString('en')} events after ${(tookMs / 60_000).toFixed(0)} minutes; ${cpu.join(', ')}`,
      );
    }
  };
  await Promise.all(Array.from({ length: senders }, sender));
  const filled = await Promise.all(
    opened.map(async ({ name, store }): Promise<LoadedStore> => {
      await store.settled();
      await merged(store);
      const taken = cpuSeconds(store.pid());
      await store.stop();
      return { name, cpuSeconds: taken, diskBytes: diskBytes(store.dataDir) };
    }),
  );
  const loaded: Loaded = { count, endMs, stores: filled };
  writeFileSync(file, `${JSON.stringify(loaded, null, 2)}\n`);
  return loaded;
}

const loadedFile = 'loaded.json';

const run = promisify(execFile);

/**
 * Drops what the kernel has cached of the files of a folder (coreutils: `dd iflag=nocache count=0`). It may
 * take longer than a connection lives that nothing is asked over, so this process goes on meanwhile.
 */
async function dropCached(folder: string): Promise<void> {
  await run('sync');
  const drop = 'for file; do dd if="$file" iflag=nocache count=0 status=none; done';
  await run('find', [folder, '-type', 'f', '-size', '+0', '-exec', 'sh', '-c', drop, 'sh', '{}', '+']);
}

/** Bytes that the processes have had from the disk. */
const readBytes = (pid: number): number =>
  processTree(pid).reduce((sum, each) => {
    const io = unlessGone('', () => readFileSync(`/proc/${each}/io`, 'utf8'));
    return sum + Number(/^read_bytes: (\d+)$/m.exec(io)?.[1] ?? 0);
  }, 0);

const warmRuns = 9;
/** A query that takes longer is asked less often, three times at least. */
const warmMs = 6000;
const minWarmRuns = 3;

interface QueryFigures {
  readonly rows: number;
  readonly coldMs: number;
  readonly warmMs: number;
  readonly readMB: number;
  readonly peakMB: number;
}

async function measureQuery(
  store: LogStore,
  query: LogQuery,
  events: LogEvents,
  rounds: number,
): Promise<QueryFigures> {
  const [from, to] = query.hours.map((hours) => events.hoursBeforeEnd(hours));
  if (from === undefined || to === undefined) throw new Error('BUG: a query has two ends');
  const cold: number[] = [];
  const read: number[] = [];
  let rows = 0;
  const timed = async (): Promise<number> => {
    const started = performance.now();
    rows = await store.ask(query, from, to);
    return performance.now() - started;
  };
  for (let round = 0; round < rounds; round += 1) {
    await store.restart();
    // So that the program is warm, and only the data is cold: at this time there are no events.
    await store.ask(query, events.hoursBeforeEnd(-2), events.hoursBeforeEnd(-3));
    await dropCached(store.dataDir);
    const before = readBytes(store.pid());
    cold.push(await timed());
    read.push(readBytes(store.pid()) - before);
  }
  const warm: number[] = [];
  const beganMs = performance.now();
  const isEnough = (): boolean => warm.length >= minWarmRuns && performance.now() - beganMs > warmMs;
  while (warm.length < warmRuns && !isEnough()) warm.push(await timed());
  const median = (values: readonly number[]): number => percentile(Float64Array.from(values).sort(), 0.5);
  return {
    rows,
    coldMs: median(cold),
    warmMs: median(warm),
    readMB: median(read) / 1e6,
    peakMB: residentBytes(store.pid()).peak / 1e6,
  };
}

export interface LogQueriesOptions {
  readonly rows: number;
  /** How often each query is asked cold; the medians are shown. */
  readonly rounds: number;
  /** Where the stores are kept; without it, a folder that is removed. */
  readonly folder: string | undefined;
  /** Fill the stores, ask them, or both. */
  readonly step: 'load' | 'query' | 'both';
  /** Names of stores, parts of names of queries; all without any. */
  readonly words: readonly string[];
}

export async function measureLogQueries(options: LogQueriesOptions): Promise<string> {
  const { rows, rounds, step } = options;
  const isStore = (word: string): word is StoreName => Object.hasOwn(stores, word);
  const chosen = options.words.filter(isStore);
  const parts = options.words.filter((word) => !isStore(word));
  const names = (chosen.length > 0 ? chosen : (Object.keys(stores) as StoreName[])).filter(
    (name) => name !== 'victoria-logs' || onPath('victoria-logs'),
  );
  const folder = options.folder ?? temporaryFolder('log-queries');
  try {
    mkdirSync(folder, { recursive: true });
    const loaded =
      step === 'query'
        ? (JSON.parse(readFileSync(join(folder, loadedFile), 'utf8')) as Loaded)
        : await load(folder, names, new LogEvents(rows));
    const tables = [loadTable(loaded)];
    if (step !== 'load') tables.push(await askAll(folder, loaded, { names, parts, rounds }));
    return tables.join('\n\n');
  } finally {
    if (options.folder === undefined) removeFolder(folder);
  }
}

const loadTable = ({ count, stores: filled }: Loaded): string =>
  markdownTable(
    [`${count.toLocaleString('en')} events`, 'CPU s / 1 M', 'disk B / event'],
    filled.map((store) => [
      stores[store.name].title,
      ((store.cpuSeconds / count) * 1e6).toFixed(2),
      (store.diskBytes / count).toFixed(1),
    ]),
  );

async function askAll(
  folder: string,
  loaded: Loaded,
  { names, parts, rounds }: { names: readonly StoreName[]; parts: readonly string[]; rounds: number },
): Promise<string> {
  const events = new LogEvents(loaded.count, loaded.endMs);
  const queries = queriesOf(events).filter(
    ({ name }) => parts.length === 0 || parts.some((part) => name.includes(part)),
  );
  const rows = new Map(queries.map(({ name }) => [name, [] as string[][]]));
  for (const { name } of loaded.stores.filter((each) => names.includes(each.name))) {
    const store = await stores[name].start(join(folder, name));
    try {
      for (const query of queries) {
        const figures = await measureQuery(store, query, events, rounds);
        const { coldMs, warmMs, readMB, peakMB } = figures;
        const cells = [coldMs, warmMs, readMB].map((figure) => figure.toFixed(1));
        const row = [query.name, stores[name].title, String(figures.rows), ...cells, peakMB.toFixed(0)];
        console.log(row.join('  '));
        rows.get(query.name)?.push(row);
      }
    } finally {
      await store.stop();
    }
  }
  return markdownTable(
    ['query', 'store', 'rows', 'cold p50 ms', 'warm p50 ms', 'MB read cold', 'peak RSS MB'],
    [...rows.values()].flat(),
  );
}
