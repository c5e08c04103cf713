import { defineConfig } from 'vitest/config';

/**
 * One configuration for every kind of test. Files run in processes of their own: the embedded engine
 * binds one data directory per process, so two test files can never share one.
 */
export default defineConfig({
  test: {
    root: new URL('..', import.meta.url).pathname,
    include: ['test/**/*.test.ts'],
    pool: 'forks',
    // Two at a time: the engine and the child processes of the e2e tests want a core each.
    maxWorkers: 2,
    // A bound on hanging, not on speed: the machine may be busy with other things.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    reporters: process.env['CI'] === undefined ? ['default'] : ['default', 'json'],
    outputFile: { json: 'dist/test-report.json' },
  },
});
