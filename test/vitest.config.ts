import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** The tests of whole programs first: they wait most, and what is left at the end would run alone. */
class WaitingFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const waits = ({ moduleId }: TestSpecification) => (moduleId.includes('/test/e2e/') ? 0 : 1);
    return (await super.sort(files)).sort((a, b) => waits(a) - waits(b));
  }
}

/**
 * Files that open no engine and, unlike that of the HTTP server, do not measure the memory of
 * their process closely.
 */
const withoutEngine = [
  'test/unit/**/*.test.ts',
  'test/integration/http/http-[!s]*.test.ts',
  'test/integration/{ingest/{decode-turns,inline-decoding},identity/oidc-hardening}.test.ts',
];

/** What depends on the HTTP library runs a second time, on `node:http`. */
const onNodeHttp = [
  'test/integration/http/{http-{body,body-stream,framing,routing,server,spec},https,query-http}.test.ts',
];

/** The tests that take longest, or need programs in other languages: `npm run test:full`. */
const long = [
  'test/e2e/{clickhouse-server,clock-jump,data-frames,deploy,docs,export,kill,otlp-collector,package,prometheus,scrapers,sql-drivers}.test.ts',
  'test/e2e/{backup-running,dataset-deletion,fatal,hostile,noisy-tenant}.test.ts',
  'test/e2e/{alert-crash,alertmanager,alerts,alerts-several-nodes,console}.test.ts',
  'test/e2e/{live-tail,live-tail-nodes,node-versions,several-nodes,tenants-several-nodes}.test.ts',
  'test/integration/drain/{disk-failure,poison,poison-crash}.test.ts',
  'test/integration/pgwire/time-zones-all.test.ts',
];

/**
 * One configuration for every kind of test. Files run in processes of their own: the embedded engine binds
 * one data directory per process, so two test files can never share one. Files that open no engine share
 * processes, and with them what they import, which takes half the CPU.
 */
export default defineConfig({
  test: {
    root: new URL('..', import.meta.url).pathname,
    projects: [
      { extends: true, test: { name: 'shared', include: withoutEngine, isolate: false } },
      {
        extends: true,
        test: { name: 'alone', include: ['test/**/*.test.ts'], exclude: [...withoutEngine, ...long] },
      },
      {
        extends: true,
        test: { name: 'node-http', include: onNodeHttp, env: { MILLRACE_HTTP_SERVER: 'node' } },
      },
      { extends: true, test: { name: 'long', include: long } },
    ],
    setupFiles: ['test/support/lib/seeded-properties.ts'],
    pool: 'forks',
    // Many tests wait for a real program, a signal or a clock: with three at a time, two cores
    // are busy throughout.
    maxWorkers: 3,
    sequence: { sequencer: WaitingFirst },
    // Bounds on hanging, not on speed: the machine may be busy with other things.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 60_000 } },
    reporters: process.env['CI'] === undefined ? ['default'] : ['default', 'json'],
    outputFile: { json: 'dist/test-report.json' },
  },
});
