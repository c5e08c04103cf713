import { cpus, totalmem } from 'node:os';
import { parseArgs } from 'node:util';
import { measureDurability } from './durability.ts';
import { measureAuthorizer, measureIdentities } from './identities.ts';
import { type Measurement, measure, medianOf } from './measure.ts';
import { isInstalled, millrace, peers, type ReceiverKind } from './receivers.ts';
import { remoteWriteCases, remoteWriteWorkload } from './remote-write-workloads.ts';
import { markdownTable } from './table.ts';
import { jsonWorkload, type Workload } from './workloads.ts';

const remoteWriteNames = Object.keys(remoteWriteCases) as (keyof typeof remoteWriteCases)[];
const workloads: ReadonlyMap<string, (requests: number) => Workload> = new Map([
  ...remoteWriteNames.map(
    (name) => [name, (requests: number) => remoteWriteWorkload(name, requests)] as const,
  ),
  ['json', jsonWorkload],
]);

const usage = `npm run bench [-- [durability | identities] [<workload> …] [--quick] [--rounds n] [--prometheus]]

  durability           what the fsync before the reply costs, in place of a comparison of receivers
  identities           what checking who asks costs, with many keys and under floods of bad ones
  <workload>           what to send: ${[...workloads.keys()].join(', ')};
                       remote-write and json when none is named
  --quick              one round of a tenth of the load
  --rounds n           rounds, of which the medians are shown (default 3)
  --prometheus         also measure Prometheus as a receiver (slow)
`;

const requests = 1000;

function readArguments() {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      quick: { type: 'boolean', default: false },
      rounds: { type: 'string' },
      prometheus: { type: 'boolean', default: false },
    },
  });
  const rounds = Number(values.rounds ?? (values.quick ? 1 : 3));
  if (!Number.isInteger(rounds) || rounds < 1) throw new Error(`--rounds ${values.rounds}: use 1 or more`);
  const named = positionals.filter((name) => name !== 'durability' && name !== 'identities');
  const names = named.length === 0 ? ['remote-write', 'json'] : named;
  const chosen = names.map((name) => {
    const make = workloads.get(name);
    if (make === undefined) {
      throw new Error(`${name}: use durability or one of ${[...workloads.keys()].join(', ')}`);
    }
    return make;
  });
  return {
    chosen,
    rounds,
    requests: values.quick ? requests / 10 : requests,
    prometheus: values.prometheus,
    durability: positionals.includes('durability'),
    identities: positionals.includes('identities'),
  };
}

function chooseReceivers(workload: Workload, withPrometheus: boolean): ReceiverKind[] {
  const wanted = [peers['victoria-metrics'], ...(withPrometheus ? [peers.prometheus] : [])].filter((peer) =>
    peer.takes.includes(workload.protocol),
  );
  for (const peer of wanted) {
    if (!isInstalled(peer)) console.log(`${peer.name} is not on the PATH: not measured.`);
  }
  return [millrace, ...wanted.filter(isInstalled)];
}

/** Rounds are interleaved, so that a change of the machine's mood meets every receiver. */
async function runRounds(workload: Workload, receivers: readonly ReceiverKind[], rounds: number) {
  const results = new Map(receivers.map((receiver) => [receiver.name, [] as Measurement[]]));
  for (let round = 1; round <= rounds; round++) {
    for (const receiver of receivers) {
      const measurement = await measure(receiver, workload);
      results.get(receiver.name)?.push(measurement);
      const { cpuSecondsPerMillion } = measurement;
      console.log(`round ${round}: ${receiver.name} ${cpuSecondsPerMillion.toFixed(2)} CPU s / 1 M`);
    }
  }
  return [...results].map(([name, measurements]) => ({ name, median: medianOf(measurements) }));
}

const megabytes = (bytes: number): string => (bytes / 1e6).toFixed(0);

function report(workload: Workload, results: Awaited<ReturnType<typeof runRounds>>): string {
  const own = results.find(({ name }) => name === millrace.name)?.median.cpuSecondsPerMillion ?? Number.NaN;
  const header = [
    'receiver',
    `CPU s / 1 M ${workload.unit}`,
    'CPU against millrace',
    `${workload.unit} / s`,
    'ack p50 ms',
    'ack p99 ms',
    'idle RSS MB',
    'peak RSS MB',
    `disk B / ${workload.unit.slice(0, -1)}`,
  ];
  const rows = results.map(({ name, median }) => [
    name,
    median.cpuSecondsPerMillion.toFixed(2),
    `${(median.cpuSecondsPerMillion / own).toFixed(2)} x`,
    median.itemsPerSecond.toFixed(0),
    median.ackP50Ms.toFixed(1),
    median.ackP99Ms.toFixed(1),
    megabytes(median.idleRssBytes),
    megabytes(median.peakRssBytes),
    median.diskBytesPerItem.toFixed(1),
  ]);
  return markdownTable(header, rows);
}

async function main(): Promise<void> {
  const options = readArguments();
  const [cpu] = cpus();
  console.log(
    `${cpus().length} x ${cpu?.model}, ${(totalmem() / 2 ** 30).toFixed(0)} GiB, Node ${process.version}`,
  );
  if (options.identities) {
    console.log(`\n${measureAuthorizer(options.requests * 1000)}`);
    console.log(`\n${await measureIdentities(options.requests * 10, options.rounds)}`);
    return;
  }
  for (const make of options.chosen) {
    const workload = make(options.requests);
    const { name, items, unit, bytesPerItem, bodies } = workload;
    console.log(
      `\n${name}: ${items} ${unit} of ${bytesPerItem.toFixed(0)} bytes in ${bodies.length} requests, 4 connections`,
    );
    if (options.durability) {
      const { maxItemsPerSecond, table, cpuCost } = await measureDurability(workload, options.rounds);
      console.log(`\nhighest load ${maxItemsPerSecond.toFixed(0)} ${unit} / s; at half of it:\n\n${table}`);
      if (cpuCost !== undefined) console.log(`\nfsync costs ${(cpuCost * 100).toFixed(1)} % more CPU`);
      continue;
    }
    const receivers = chooseReceivers(workload, options.prometheus);
    console.log(`\n${report(workload, await runRounds(workload, receivers, options.rounds))}`);
  }
}

try {
  await main();
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  console.error(`\n${usage}`);
  process.exitCode = 1;
}
