import { writeFileSync } from 'node:fs';
import { cpus, totalmem } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { packageRoot } from '../test/support/lib/package-root.ts';
import { measureAlerts } from './alerts-benchmark.ts';
import { measureAuthorizer } from './authorizer-benchmark.ts';
import { measureCatalog } from './catalog-benchmark.ts';
import { barChart } from './chart.ts';
import { measureCodecs } from './codecs-benchmark.ts';
import { measureDatasets } from './datasets-benchmark.ts';
import { measureDurability } from './durability.ts';
import { measureHttpServers } from './http-servers.ts';
import { measureIdentities } from './identities-benchmark.ts';
import { measureLogQueries } from './log-queries-benchmark.ts';
import { type Measurement, measure, medianOf } from './measure.ts';
import { measureOtlp } from './otlp-benchmark.ts';
import { measureQueries } from './query-benchmark.ts';
import { isInstalled, millrace, peers, type ReceiverKind } from './receivers.ts';
import { remoteWriteCases, remoteWriteWorkload } from './remote-write-workloads.ts';
import { type CaseResults, resultBars, resultTable } from './report.ts';
import { measureSqlClients } from './sql-clients-benchmark.ts';
import { measureTails } from './tail-benchmark.ts';
import { jsonWorkload, type Workload } from './workloads.ts';

const remoteWriteNames = Object.keys(remoteWriteCases) as (keyof typeof remoteWriteCases)[];
const workloads: ReadonlyMap<string, (requests: number) => Workload> = new Map([
  ...remoteWriteNames.map(
    (name) => [name, (requests: number) => remoteWriteWorkload(name, requests)] as const,
  ),
  ['json', jsonWorkload],
]);
/** All of these at once. */
const remoteWrite = 'remote-write';
const picture = 'bench/remote-write.svg';

const usage = `npm run bench [-- [alerts | catalog | codecs | datasets | durability | http | identities | log-queries | otlp | query | sql-clients | tail] [<workload> …] [--quick] [--rounds n] [--prometheus]]

  alerts               a thousand alerts a minute: CPU, and how late they are evaluated
  catalog              queries of pg_catalog and information_schema with 2,000 datasets
  codecs [<word> …]    order keys and codecs for samples: bytes on disk, CPU and query time; words such as value or LZ4
                       choose among them
  datasets [<count> …]  the same load over 1, 100 and 2,000 datasets in turn, or as many as are said; no workload
  durability           what the fsync before the reply costs, in place of a comparison of receivers
  http                 large and small remote write and JSON on each of the two HTTP servers
  identities [<word> …]  what checking who asks costs, with many keys and under floods of bad ones; words such as alone
                       or flood choose among the cases
  log-queries [<word> …]  the queries of a page of logs, cold and warm, beside VictoriaLogs where it is on the PATH; 10 million
                       events, or --rows n; words choose among the stores (plain, search-fields, victoria-logs) and the
                       queries (such as latest or word); with --data, --load fills the stores and --query asks them
  otlp [<word> …]      logs, traces and metrics: JSON and protobuf, batches of 512 and 8,192, with and without gzip; words
                       such as logs, json, 512 or plain choose among the cases
  query                what queries cost beside the work of the store, large results, label predicates
  sql-clients [<word> …]  queries and rows over the wire protocol, beside PostgreSQL, and the memory of idle sessions and
                       of a slow reader; words choose among the cases: queries, rows, idle, slow
  tail                 what live tails cost ingest: the numbers of inserts that merges keep, and 16 open tails
  <workload>           what to send: ${[...workloads.keys()].join(', ')};
                       ${remoteWrite} for all of the first, with a picture of the result in ${picture};
                       remote-write-first and json when none is named
  --quick              one round of a tenth of the load, and no picture
  --data folder        where log-queries keeps its stores
  --load, --query      log-queries does only this of its two steps
  --rows n             events for log-queries (default 10000000)
  --rounds n           rounds, of which the medians are shown (default 3)
  --prometheus         also measure Prometheus as a receiver (slow)
`;

const requests = 1000;
/** Measurements that do not compare receivers. */
const modes: ReadonlySet<string> = new Set([
  'alerts',
  'catalog',
  'query',
  'sql-clients',
  'codecs',
  'datasets',
  'durability',
  'http',
  'identities',
  'log-queries',
  'tail',
]);

/** Those whose further words choose among their cases. */
const modesWithWords: ReadonlySet<string> = new Set([
  'otlp',
  'identities',
  'datasets',
  'codecs',
  'log-queries',
  'sql-clients',
]);

function readArguments() {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      quick: { type: 'boolean', default: false },
      rounds: { type: 'string' },
      prometheus: { type: 'boolean', default: false },
      rows: { type: 'string', default: '10000000' },
      data: { type: 'string' },
      load: { type: 'boolean', default: false },
      query: { type: 'boolean', default: false },
    },
  });
  if ((values.load || values.query) && values.data === undefined)
    throw new Error('--load and --query need --data: the folder with the stores');
  const rows = Number(values.rows);
  if (!Number.isInteger(rows) || rows < 1000) throw new Error(`--rows ${values.rows}: use 1000 or more`);
  const rounds = Number(values.rounds ?? (values.quick ? 1 : 3));
  if (!Number.isInteger(rounds) || rounds < 1) throw new Error(`--rounds ${values.rounds}: use 1 or more`);
  const otlp = positionals.includes('otlp');
  const identities = positionals.includes('identities');
  const datasets = positionals.includes('datasets');
  const codecs = positionals.includes('codecs');
  const logQueries = positionals.includes('log-queries');
  const words = positionals.filter((name) => !modesWithWords.has(name));
  const takesWords = positionals.some((name) => modesWithWords.has(name));
  const named = takesWords ? [] : positionals.filter((name) => !modes.has(name));
  const names = (named.length === 0 ? ['remote-write-first', 'json'] : named).flatMap((name) =>
    name === remoteWrite ? remoteWriteNames : [name],
  );
  const chosen = names.map((name) => {
    const make = workloads.get(name);
    if (make === undefined) {
      throw new Error(
        `${name}: use alerts, catalog, codecs, datasets, durability, http, identities, log-queries, query, sql-clients, tail, ${remoteWrite} or one of ${[...workloads.keys()].join(', ')}`,
      );
    }
    return make;
  });
  return {
    chosen,
    rounds,
    requests: values.quick ? requests / 10 : requests,
    prometheus: values.prometheus,
    codecs,
    datasets,
    durability: positionals.includes('durability'),
    alerts: positionals.includes('alerts'),
    catalog: positionals.includes('catalog'),
    query: positionals.includes('query'),
    sqlClients: positionals.includes('sql-clients'),
    tail: positionals.includes('tail'),
    logQueries,
    folder: values.data,
    step:
      values.load === values.query ? ('both' as const) : values.load ? ('load' as const) : ('query' as const),
    rows: values.quick ? rows / 10 : rows,
    http: positionals.includes('http'),
    identities,
    otlp,
    words,
    part: values.quick ? 0.1 : 1,
    draws: named.includes(remoteWrite) && !values.quick && !positionals.includes('durability'),
  };
}

/** Rounds are interleaved, so that a change in the machine's speed affects every receiver. */
async function compare(
  workload: Workload,
  { rounds, prometheus }: { readonly rounds: number; readonly prometheus: boolean },
): Promise<CaseResults> {
  const receivers = [millrace, peers['victoria-metrics'], ...(prometheus ? [peers.prometheus] : [])];
  const measured = new Map(receivers.map((receiver) => [receiver, [] as Measurement[]]));
  for (let round = 1; round <= rounds; round++) {
    for (const receiver of receivers.filter((kind) => obstacle(kind, workload) === undefined)) {
      const measurement = await measure(receiver, workload);
      measured.get(receiver)?.push(measurement);
      const { cpuSecondsPerMillion } = measurement;
      console.log(`round ${round}: ${receiver.name} ${cpuSecondsPerMillion.toFixed(2)} CPU s / 1 M`);
    }
  }
  return {
    name: workload.name,
    results: [...measured].map(([receiver, measurements]) => ({
      receiver: receiver.name,
      outcome: obstacle(receiver, workload) ?? medianOf(measurements),
    })),
  };
}

/** Why a receiver cannot be measured; undefined if it can. */
function obstacle(receiver: ReceiverKind, { protocol }: Workload): string | undefined {
  if (!receiver.takes.includes(protocol)) return 'does not take it';
  return isInstalled(receiver) ? undefined : 'not on the PATH';
}

async function main(): Promise<void> {
  const options = readArguments();
  const [cpu] = cpus();
  console.log(
    `${cpus().length} x ${cpu?.model}, ${(totalmem() / 2 ** 30).toFixed(0)} GiB, Node ${process.version}`,
  );
  if (options.otlp) {
    console.log(`\n${await measureOtlp(options.rounds, options.part, options.words)}`);
    return;
  }
  if (options.codecs) {
    const scrapes = options.part < 1 ? 100 : 1000;
    console.log(`\n${await measureCodecs({ scrapes, words: options.words })}`);
    return;
  }
  if (options.datasets) {
    console.log(`\n${await measureDatasets(options.part < 1 ? 30 : 60, options.words)}`);
    return;
  }
  if (options.identities) {
    console.log(`\n${measureAuthorizer(options.requests * 1000)}`);
    const { words } = options;
    console.log(`\n${await measureIdentities(options.requests * 10, options.rounds, words)}`);
    return;
  }
  if (options.http) {
    console.log(`\n${await measureHttpServers(options.requests, options.rounds)}`);
    return;
  }
  if (options.alerts) {
    console.log(`\n${await measureAlerts(options.part < 1 ? 1 : 3)}`);
    return;
  }
  if (options.catalog) {
    console.log(`\n${await measureCatalog(options.part < 1)}`);
    return;
  }
  if (options.query) {
    console.log(`\n${await measureQueries(options.part < 1)}`);
    return;
  }
  if (options.logQueries) {
    console.log(`\n${await measureLogQueries(options)}`);
    return;
  }
  if (options.tail) {
    console.log(`\n${await measureTails(options.part)}`);
    return;
  }
  if (options.sqlClients) {
    console.log(`\n${await measureSqlClients(options.part < 1, options.words)}`);
    return;
  }
  const results: CaseResults[] = [];
  try {
    for (const make of options.chosen) await measureWorkload(make(options.requests), options, results);
  } finally {
    // Printed even if a later measurement fails: the results took minutes.
    if (results.length > 0) console.log(`\n${resultTable(results, millrace.name)}`);
  }
  if (!options.draws) return;
  const chart = barChart('CPU seconds of the receiver for a million samples', resultBars(results));
  writeFileSync(join(packageRoot(), picture), chart);
  console.log(`\n${picture} is written`);
}

/** @param results gets those of the comparison of receivers, if that is what is measured */
async function measureWorkload(
  workload: Workload,
  options: ReturnType<typeof readArguments>,
  results: CaseResults[],
): Promise<void> {
  const { name, items, unit, bytesPerItem, bodies } = workload;
  console.log(
    `\n${name}: ${items} ${unit} of ${bytesPerItem.toFixed(0)} bytes in ${bodies.length} requests, 4 connections`,
  );
  if (!options.durability) {
    results.push(await compare(workload, options));
    return;
  }
  const { maxItemsPerSecond, table, cpuCost } = await measureDurability(workload, options.rounds);
  console.log(`\nhighest load ${maxItemsPerSecond.toFixed(0)} ${unit} / s; at half of it:\n\n${table}`);
  if (cpuCost !== undefined) console.log(`\nfsync costs ${(cpuCost * 100).toFixed(1)} % more CPU`);
}

try {
  await main();
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  console.error(`\n${usage}`);
  process.exitCode = 1;
}
