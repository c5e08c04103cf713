import { spawnSync } from 'node:child_process';
import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { onPath, removeFolder, temporaryFolder } from './child.ts';

/** How often libfaketime reads its file. */
const lookIntervalSeconds = 1;

/**
 * The wall clock of child processes, which the test can set while they run. Their monotonic clock is not
 * affected, as when an operator or NTP sets the time. It uses libfaketime, which the child preloads.
 */
export class WallClock {
  /** For the child. */
  readonly env: Readonly<Record<string, string>>;
  readonly #folder = temporaryFolder('wall-clock');
  readonly #file = join(this.#folder, 'offset');

  constructor() {
    this.#write(0);
    this.env = {
      LD_PRELOAD: libraryPath(),
      FAKETIME_TIMESTAMP_FILE: this.#file,
      FAKETIME_CACHE_DURATION: String(lookIntervalSeconds),
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
      // It would correct timed waits by a clock that is not changed here; the engine's threads
      // would hardly wait at all.
      FAKETIME_FORCE_MONOTONIC_FIX: '0',
      NO_FAKE_STAT: '1',
    };
  }

  /** Sets the offset from the true time, and waits until the child must have noticed. */
  async set(offsetSeconds: number): Promise<void> {
    this.#write(offsetSeconds);
    // It counts whole seconds.
    await sleep((lookIntervalSeconds + 1) * 1000 + 200);
  }

  dispose(): void {
    removeFolder(this.#folder);
  }

  /** Replaced atomically, since the child may be reading it. */
  #write(offsetSeconds: number): void {
    const draft = `${this.#file}.new`;
    writeFileSync(draft, `${offsetSeconds < 0 ? '' : '+'}${offsetSeconds}\n`);
    renameSync(draft, this.#file);
  }
}

/** Why the clock cannot be changed here; undefined if it can. */
export function wallClockProblem(): string | undefined {
  if (process.platform !== 'linux') return 'clocks are turned on Linux only';
  return onPath('faketime') ? undefined : 'faketime is not on the PATH';
}

/** As the program `faketime` would preload it; the path differs between systems. */
function libraryPath(): string {
  const { stdout, stderr } = spawnSync('faketime', ['-m', '-f', '+0', 'printenv', 'LD_PRELOAD'], {
    encoding: 'utf8',
  });
  const path = stdout.trim();
  if (path === '') throw new Error(`faketime names no library: ${stderr}`);
  return path;
}
