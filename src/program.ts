import { join } from 'node:path';
import { banner, serviceUrl } from './app/banner.ts';
import { CommandError } from './cli/command-error.ts';
import { StoreError } from './clickhouse/store-error.ts';
import { type Config, type DeadAction, helpText, prepareProcess, readCommand } from './config/config.ts';
import { ConfigError } from './config/option.ts';
import { AppError } from './errors.ts';
import { NoHttpLibrary } from './http/server/libraries.ts';
import {
  isPasswordUnshown,
  loadOrCreatePassword,
  noteAddress,
  notePasswordShown,
  notePasswordUnshown,
  takeDataDirectory,
} from './lib/data-directory.ts';
import { startWatchdog } from './lib/event-loop-watchdog.ts';
import { endOnUncaughtErrors } from './lib/fatal.ts';
import { createLogger, type Logger } from './lib/log.ts';
import { LockHeld } from './lib/process-lock.ts';
import { StartError } from './lib/start-error.ts';
import { BadCertificate } from './lib/tls-files.ts';
import { readVersion } from './lib/version.ts';

/**
 * Exit codes: 0 after a clean stop, 1 if the service or the command failed, 2 for a bad option, 70 after
 * an unexpected error.
 */
async function main(): Promise<void> {
  endOnUncaughtErrors();
  prepareProcess();
  const command = readCommand();
  switch (command.name) {
    case 'help':
      process.stdout.write(helpText(command.of));
      return;
    case 'version':
      process.stdout.write(`millrace ${readVersion()}\n`);
      return;
    case 'serve':
      return await serve(command.config, command.warnings);
    case 'dead':
      return await runDeadCommand(command.action, command.config);
    case 'query': {
      const { runQuery } = await import('./cli/query-command.ts');
      const { sql, client, config } = command;
      return await runQuery({ service: { ...config, ...client }, sql, format: client.format });
    }
    case 'health': {
      const { askHealth } = await import('./cli/health-command.ts');
      process.stdout.write(`${await askHealth({ ...command.config, ...command.client })}\n`);
      return;
    }
    case 'backup': {
      const { runBackup } = await import('./cli/backup-command.ts');
      const done = await runBackup({ ...command.config, ...command.client }, command.backup);
      process.stdout.write(`${done}\n`);
      return;
    }
    case 'restore':
      await runRestore(command.backup, command.config);
  }
}

async function runRestore(backup: string, config: Config): Promise<void> {
  const { restore } = await import('./backup/restore.ts');
  const { dataDir, queryMaxTotalMemoryBytes: queryMemoryBytes, engineEnvironment: environment } = config;
  if (config.clickhouseUrl !== undefined)
    throw new ConfigError('a backup is restored into the embedded engine: leave MILLRACE_CLICKHOUSE_URL out');
  const { startedAt, hasSecret } = await restore({
    backup,
    dataDir,
    openStore: async (backupDirectory) => {
      const { createMetrics } = await import('./lib/metrics.ts');
      const { openEmbeddedStore } = await import('./clickhouse/embedded/embedded-store.ts');
      const options = { backupDirectory, queryMemoryBytes, environment };
      return openEmbeddedStore(
        join(dataDir, 'store'),
        createMetrics(),
        createLogger(config.logLevel),
        options,
      );
    },
  });
  process.stdout.write(
    `${dataDir} has the backup of ${startedAt}; start the service with --data-dir ${dataDir}\n`,
  );
  if (!hasSecret)
    process.stdout.write('the secret that encrypts API keys is not in it: set MILLRACE_SECRET as it was\n');
}

async function runDeadCommand(action: DeadAction, config: Config): Promise<void> {
  const log = createLogger(config.logLevel);
  const { listDeadLetters, retryDeadLetters, dropDeadLetters } = await import(
    './drain/dead-letters/command.ts'
  );
  const options = {
    dataDir: config.dataDir,
    openStore: async () => {
      const { createMetrics } = await import('./lib/metrics.ts');
      const { openStore } = await import('./clickhouse/open-store.ts');
      const {
        clickhouseUrl: clickHouse,
        queryTimeoutMs,
        queryMaxTotalMemoryBytes: queryMemoryBytes,
      } = config;
      const directory = join(config.dataDir, 'store');
      return openStore(
        {
          clickHouse,
          directory,
          queryTimeoutMs,
          queryMemoryBytes,
          engineEnvironment: config.engineEnvironment,
        },
        createMetrics(),
        log,
      );
    },
    log,
    print: (line: string) => process.stdout.write(`${line}\n`),
  };
  if (action.verb === 'list') await listDeadLetters(options);
  else {
    const run = action.verb === 'retry' ? retryDeadLetters : dropDeadLetters;
    if (!(await run(options, action.names))) process.exitCode = 1;
  }
}

async function serve(config: Config, warnings: readonly string[]): Promise<void> {
  const log = createLogger(config.logLevel);
  for (const warning of warnings) log.warn(warning);
  const stopRequested = firstSignal();
  // The thread needs no stop: it ends with the process.
  if (config.watchdogMs > 0)
    startWatchdog(new URL('../workers/watchdog.js', import.meta.url), config.watchdogMs);
  const version = readVersion();
  // Imported here because it loads native code, which reads the settings of `prepareProcess`. It
  // also keeps --help fast.
  const starting = import('./app/application.ts').then((module) => start(module, config, version, log));
  const running = await Promise.race([starting, stopRequested]);
  if (typeof running === 'string') {
    // As a kill would leave it: the log has what was acknowledged.
    log.info({ signal: running }, 'stopped before the start was complete');
    // An exit waits for calls to the file system, and one of them may be what hangs.
    const isInFileSystem = process.getActiveResourcesInfo().some((name) => name.startsWith('FSReq'));
    if (isInFileSystem) process.kill(process.pid, 'SIGKILL');
    return;
  }
  const signal = await stopRequested;
  log.info({ signal }, 'stopping');
  await running.stop();
  log.info('stopped');
}

/** Starts the service. @returns when it takes requests */
async function start(
  { startApp }: typeof import('./app/application.ts'),
  config: Config,
  version: string,
  log: Logger,
): Promise<{ stop(): Promise<void> }> {
  const { dataDir } = config;
  const directory = await takeDataDirectory(dataDir);
  try {
    if (config.adminPassword === undefined) await notePasswordUnshown(dataDir);
    const adminPassword = config.adminPassword ?? (await loadOrCreatePassword(dataDir)).password;
    const isUnshown = config.adminPassword === undefined && isPasswordUnshown(dataDir);
    const app = await startApp({ config, directory, adminPassword, version, log });
    const { address, tls } = app;
    if (tls !== undefined) process.on('SIGHUP', () => void tls.reload());
    const removeAddress = await noteAddress(dataDir, serviceUrl(address, tls?.certificate));
    log.info({ address: `${address.host}:${address.port}`, version, pid: process.pid }, 'listening');
    process.stdout.write(
      banner({
        version,
        config,
        address,
        pgAddress: app.pgAddress,
        certificate: tls?.certificate,
        newPassword: isUnshown ? adminPassword : undefined,
      }),
    );
    if (isUnshown) await notePasswordShown(dataDir);
    return {
      stop: async () => {
        try {
          await removeAddress();
          await app.stop();
        } finally {
          await directory.release();
        }
      },
    };
  } catch (error) {
    await directory.release();
    throw error;
  }
}

/**
 * The first signal ends a start that is under way, however far it is. A second signal while the service is
 * stopping ends the process at once.
 */
function firstSignal(): Promise<NodeJS.Signals> {
  return new Promise((done) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => done(signal));
  });
}

function fail(thrown: unknown): void {
  const known = [
    ConfigError,
    StartError,
    CommandError,
    LockHeld,
    AppError,
    StoreError,
    BadCertificate,
    NoHttpLibrary,
  ].some((kind) => thrown instanceof kind);
  const text =
    thrown instanceof Error ? (known ? thrown.message : (thrown.stack ?? thrown.message)) : String(thrown);
  process.stderr.write(`millrace: ${text}\n`);
  process.exitCode = thrown instanceof ConfigError ? 2 : thrown instanceof CommandError ? thrown.exitCode : 1;
}

main().then(
  () => process.exit(),
  (thrown) => {
    fail(thrown);
    process.exit();
  },
);
