import { execFileSync } from 'node:child_process';
import { onPath } from '../test/support/lib/child.ts';

/** Receivers of OTLP to compare with, by their programs. */
const peers: Readonly<Record<string, readonly string[]>> = {
  'an OpenTelemetry Collector with a ClickHouse exporter': ['otelcol-contrib'],
  VictoriaLogs: ['victoria-logs', 'victoria-logs-prod'],
};

/**
 * VictoriaMetrics takes OTLP metrics (protobuf, `/opentelemetry/v1/metrics`) since this version; 400 before.
 */
const firstWithOtlp = [1, 92] as const;

/** Lines that say of each peer why it is not in the table. */
export function missingPeers(): string {
  const lines = Object.entries(peers).map(([name, programs]) => {
    const found = programs.find(onPath);
    return found === undefined
      ? `${name}: missing, there is no ${programs.join(' or ')} on the PATH`
      : `${name}: ${found} is on the PATH, but this benchmark does not know how to run it yet`;
  });
  return [...lines, `VictoriaMetrics: ${victoriaMetrics()}`].join('\n');
}

function victoriaMetrics(): string {
  const program = 'victoria-metrics';
  if (!onPath(program)) return `missing, there is no ${program} on the PATH`;
  const text = execFileSync(program, ['-version'], { encoding: 'utf8' });
  const [version, major, minor] = /\b(\d+)\.(\d+)\.\d+/.exec(text) ?? [];
  const [firstMajor, firstMinor] = firstWithOtlp;
  if (version === undefined) {
    return `does not say its version; OTLP came with ${firstWithOtlp.join('.')}, and Debian 12 has 1.79, which answers 400`;
  }
  const isNewer = Number(major) > firstMajor || (Number(major) === firstMajor && Number(minor) >= firstMinor);
  return isNewer
    ? `${version} takes metrics of OTLP, but this benchmark does not send it any yet`
    : `${version} takes no OTLP, which came with ${firstWithOtlp.join('.')}`;
}
