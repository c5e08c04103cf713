import { createMetrics } from '../../src/lib/metrics.ts';
import { markdownTable } from '../markdown-table.ts';
import { code, referencePage } from './markdown.ts';

/** One metric as `/metrics` declares it. */
interface Declared {
  readonly name: string;
  readonly help: string;
  readonly type: string;
}

/** The metrics of the service itself, from the `# HELP` and `# TYPE` lines of the Prometheus text format. */
function declaredIn(text: string): readonly Declared[] {
  const help = new Map(
    [...text.matchAll(/^# HELP (millrace_\w+) (.*)$/gm)].map(([, name = '', h = '']) => [name, h]),
  );
  return [...text.matchAll(/^# TYPE (millrace_\w+) (\w+)$/gm)]
    .map(([, name = '', type = '']) => ({ name, type, help: help.get(name) ?? '' }))
    .toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

/** Names of labels by metric. Those that are registered elsewhere have none. */
function labelNames(): ReadonlyMap<string, readonly string[]> {
  const { registry } = createMetrics();
  return new Map(
    registry.getMetricsAsArray().map((metric) => {
      const { name, labelNames = [] } = metric as unknown as { name: string; labelNames?: readonly string[] };
      return [name, labelNames];
    }),
  );
}

/** `docs/reference/metrics.md`. @param text what `/metrics` of a running service says */
export function metricsReference(text: string): string {
  const labels = labelNames();
  const rows = declaredIn(text).map(({ name, help, type }) => [
    code(name),
    type,
    (labels.get(name) ?? []).map(code).join(' '),
    help,
  ]);
  return referencePage('Metrics', 'a running service', [
    '`GET /metrics` shows these in the Prometheus text format. `MILLRACE_METRICS_ADDR` moves it to a separate ' +
      'address, and `MILLRACE_METRICS_AUTH=required` makes it require credentials. Metrics that begin with `process_` and ' +
      '`nodejs_` (CPU, memory, descriptors, garbage collection, event-loop lag) are those of ' +
      '[prom-client](https://github.com/siimon/prom-client). [Metrics and alerts](../operations/monitoring.md) says ' +
      'which ones to watch.',
    markdownTable(['metric', 'type', 'labels', 'meaning'], rows, 'text'),
  ]);
}
