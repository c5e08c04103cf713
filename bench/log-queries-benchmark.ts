import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
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

/** A running program that has the events. */
interface LogStore {
  readonly name: string;
  readonly dataDir: string;
  pid(): number;
  send(body: string): Promise<Response>;
  /** Returns when all that was sent can be found. */
  settled(): Promise<void>;
  /** How many rows the answer has. */
  ask(query: LogQuery, from: string, to: string): Promise<number>;
  restart(): Promise<void>;
  dispose(): Promise<void>;
}

async function startMillrace(searchFields: string | undefined): Promise<LogStore> {
  const service = await Service.start({ env: { MILLRACE_LOG_LEVEL: 'warn' } });
  const made = await fetch(`${service.url}/api/v1/logstream/logs`, {
    method: 'PUT',
    headers: {
      authorization,
      'x-p-time-partition': 'at',
      ...(searchFields === undefined ? {} : { 'x-p-search-fields': searchFields }),
    },
  });
  if (!made.ok) throw new Error(`the dataset was not created: ${await made.text()}`);
  return {
    name: searchFields === undefined ? 'Millrace' : 'Millrace, X-P-Search-Fields',
    dataDir: service.dataDir,
    pid: () => service.child.pid,
    send: (body) =>
      fetch(`${service.url}/api/v1/ingest`, {
        method: 'POST',
        headers: { authorization, 'x-p-stream': 'logs', 'content-type': 'application/json' },
        body: `[${body}]`,
      }),
    settled: () => service.drained(3_600_000),
    ask: async ({ sql }, startTime, endTime) => (await service.query(sql, { startTime, endTime })).length,
    restart: async () => {
      await service.stop();
      await service.restart(600_000);
    },
    dispose: () => service.dispose(),
  };
}

async function startVictoriaLogs(): Promise<LogStore> {
  const port = await freePort();
  const dataDir = temporaryFolder('victoria-logs');
  const base = `http://127.0.0.1:${port}`;
  const launch = async (): Promise<Child> => {
    const started = await Child.start({
      name: 'victoria-logs',
      command: 'victoria-logs',
      args: [`-storageDataPath=${dataDir}`, `-httpListenAddr=127.0.0.1:${port}`, '-loggerLevel=WARN'],
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
    name: 'VictoriaLogs',
    dataDir,
    pid: () => child.pid,
    send: (body) =>
      fetch(`${base}/insert/jsonline?${fields}`, {
        method: 'POST',
        headers: { 'content-type': 'application/stream+json' },
        body: body.replaceAll('},{', '}\n{'),
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
    dispose: async () => {
      await child.stop('SIGKILL');
      removeFolder(dataDir);
    },
  };
}

const senders = 4;
const retryMs = 200;

/** Sends all events; a body that the store has no room for now is sent again. */
async function fill(store: LogStore, events: LogEvents): Promise<void> {
  const bodies = events.bodies();
  const sender = async (): Promise<void> => {
    for (const body of bodies) {
      for (;;) {
        const reply = await store.send(body);
        const text = await reply.text();
        if (reply.ok) break;
        if (reply.status !== 429 && reply.status !== 503)
          throw new Error(`${store.name}: ${reply.status} ${text}`);
        await sleep(retryMs);
      }
    }
  };
  await Promise.all(Array.from({ length: senders }, sender));
  await store.settled();
}

/** Drops what the kernel has cached of the files of a folder (coreutils: `dd iflag=nocache count=0`). */
function dropCached(folder: string): void {
  execFileSync('sync');
  execFileSync('find', [
    folder,
    '-type',
    'f',
    '-exec',
    'dd',
    'if={}',
    'iflag=nocache',
    'count=0',
    'status=none',
    ';',
  ]);
}

/** Bytes that the processes have had from the disk. */
const readBytes = (pid: number): number =>
  processTree(pid).reduce((sum, each) => {
    const io = unlessGone('', () => readFileSync(`/proc/${each}/io`, 'utf8'));
    return sum + Number(/^read_bytes: (\d+)$/m.exec(io)?.[1] ?? 0);
  }, 0);

const warmRuns = 9;

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
    dropCached(store.dataDir);
    const before = readBytes(store.pid());
    cold.push(await timed());
    read.push(readBytes(store.pid()) - before);
  }
  const warm: number[] = [];
  for (let run = 0; run < warmRuns; run += 1) warm.push(await timed());
  const median = (values: readonly number[]): number => percentile(Float64Array.from(values).sort(), 0.5);
  return {
    rows,
    coldMs: median(cold),
    warmMs: median(warm),
    readMB: median(read) / 1e6,
    peakMB: residentBytes(store.pid()).peak / 1e6,
  };
}

/** @param rounds how often each query is asked cold; the medians are shown */
export async function measureLogQueries(count: number, rounds: number): Promise<string> {
  const events = new LogEvents(count);
  const starts = [
    () => startMillrace(undefined),
    () => startMillrace('message'),
    ...(onPath('victoria-logs') ? [startVictoriaLogs] : []),
  ];
  const filled: string[][] = [];
  const rows: string[][] = [];
  for (const start of starts) {
    const store = await start();
    try {
      const began = performance.now();
      const before = cpuSeconds(store.pid());
      await fill(store, events);
      const seconds = (performance.now() - began) / 1000;
      const cpu = cpuSeconds(store.pid()) - before;
      filled.push([
        store.name,
        Math.round(count / seconds).toLocaleString('en'),
        ((cpu / count) * 1e6).toFixed(2),
        (diskBytes(store.dataDir) / count).toFixed(1),
      ]);
      for (const query of queriesOf(events)) {
        const figures = await measureQuery(store, query, events, rounds);
        const { coldMs, warmMs, readMB, peakMB } = figures;
        const cells = [coldMs, warmMs, readMB].map((figure) => figure.toFixed(1));
        rows.push([query.name, store.name, String(figures.rows), ...cells, peakMB.toFixed(0)]);
        console.log(rows.at(-1)?.join('  '));
      }
    } finally {
      await store.dispose();
    }
  }
  rows.sort(([a = ''], [b = '']) => order(events, a) - order(events, b));
  return [
    markdownTable(
      [`${count.toLocaleString('en')} events`, 'events / s', 'CPU s / 1 M', 'disk B / event'],
      filled,
    ),
    markdownTable(
      ['query', 'store', 'rows', 'cold p50 ms', 'warm p50 ms', 'MB read cold', 'peak RSS MB'],
      rows,
    ),
  ].join('\n\n');
}

const order = (events: LogEvents, name: string): number =>
  queriesOf(events).findIndex((query) => query.name === name);
