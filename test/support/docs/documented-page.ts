/**
 * Does what a page of the documentation tells its reader to do, against a service of its own.
 *
 * Blocks are marked by words behind their language:
 * - `sh run` is run, and prints what the block tagged `output` right behind it shows. Without such a block
 *   every request must succeed.
 * - `sh agent` is started and runs until the end of the page.
 * - `sh poll` is repeated until it prints its output, since what an agent sends takes a while.
 * - `yaml file=name` (of any language) is written to a file of that name first.
 *
 * `…` in an output stands for anything within a line, and on a line of its own for any lines. Times and ids
 * are taken as equal. The address 127.0.0.1:8000 stands for that of the service, other ports of 127.0.0.1 for
 * free ones, and /var for a folder of the test. `sleep` waits until the service has stored what it
 * acknowledged, so that no test depends on how fast the machine is. Behind an `agent`, which takes a moment
 * to listen, a `run` is repeated until it succeeds.
 *
 * Comments are for the test alone: `environment: A=1 B=2` is for the service, and the lines behind `setup`
 * are run first. `requires: name` names what the page needs beside a shell and curl, or, below a heading of
 * the second level, what that section needs: without it, the page or the section is skipped.
 */

import { execFile } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { jsonElements } from '../../../src/lib/json-elements.ts';
import { Child, freePort, removeFolder, temporaryFolder } from '../lib/child.ts';
import { packageRoot } from '../lib/package-root.ts';
import { collectorPath } from '../peers/collector.ts';
import { sqlClientsFolder } from '../peers/sql-clients.ts';
import { Service } from '../service/service.ts';
import { type Fence, fencesOf, readPage, withoutFences } from './markdown-pages.ts';

const documentedPort = '8000';
/** How long an agent may take, at most. */
const patienceMs = 90_000;
const repeatMs = 500;

const stepTags = ['run', 'agent', 'poll'];

export const stepsOf = (page: string): Fence[] =>
  fencesOf(page).filter(({ tags }) => stepTags.some((tag) => tags.includes(tag)));

const requirementsOf = (text: string): string[] =>
  [...text.matchAll(/<!-- requires: (.*?) -->/g)].flatMap(([, names = '']) => names.split(/[ ,]+/));

/** A part of a page that can be followed, or skipped, by itself. */
export interface Section {
  /** Its heading; the page's own for what stands above the first of the second level. */
  readonly title: string;
  /** What it needs beside what the page needs. */
  readonly requires: readonly string[];
  readonly steps: readonly Fence[];
}

/** Parts of a page that have something to follow, and what the whole page needs. */
export function sectionsOf(page: string): { requires: readonly string[]; sections: readonly Section[] } {
  // Lines of a program that look like headings are none: fences become as many empty lines.
  const lines = withoutFences(page).split('\n');
  const starts = [0, ...lines.flatMap((line, at) => (line.startsWith('## ') ? [at] : []))];
  const sections = starts.map((start, index) => {
    const end = starts[index + 1] ?? lines.length;
    const text = lines.slice(start, end);
    return {
      title: (text.find((line) => line.startsWith('#')) ?? '').replace(/^#+ /, ''),
      requires: requirementsOf(text.join('\n')),
      steps: stepsOf(page).filter(({ line }) => line > start && line <= end),
    };
  });
  return {
    requires: sections[0]?.requires ?? [],
    sections: sections
      .map((section, index) => (index === 0 ? { ...section, requires: [] } : section))
      .filter(({ steps }) => steps.length > 0),
  };
}

const environmentOf = (page: string): Record<string, string> =>
  Object.fromEntries(
    [...page.matchAll(/<!-- environment: (.*?) -->/g)].flatMap(([, pairs = '']) =>
      pairs.split(' ').map((pair) => pair.split('=') as [string, string]),
    ),
  );

const filesOf = (page: string): Array<readonly [name: string, text: string]> =>
  fencesOf(page).flatMap(({ tags, text }) =>
    tags.filter((tag) => tag.startsWith('file=')).map((tag) => [tag.slice('file='.length), text] as const),
  );

/** Commands that make what a reader has already. */
const setupOf = (page: string): string =>
  [...page.matchAll(/<!-- setup\n(.*?)-->/gs)].map(([, commands = '']) => commands).join('\n');

/** Ports of this machine that the blocks of a page name. */
const portsOf = (page: string): Set<string> =>
  new Set([...page.matchAll(/127\.0\.0\.1:(\d{4,5})\b/g)].map(([, port = '']) => port));

/** What differs from run to run. */
const varying: ReadonlyArray<readonly [RegExp, string]> = [
  [/\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?(Z|\+00:00)?/g, '<time>'],
  [/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, '<uuid>'],
  [/\b[0-9A-HJKMNP-TV-Z]{26}\b/g, '<ulid>'],
];

function normalized(text: string): string {
  const same = varying.reduce((changed, [pattern, name]) => changed.replaceAll(pattern, name), text);
  const lines = same.split('\n').map((line) => line.trimEnd());
  return lines.filter((line) => line !== '').join('\n');
}

/** Whether a command printed what the page shows. */
export function showsAs(shown: string, printed: string): boolean {
  const pattern = normalized(shown)
    .split('\n')
    .map((line) =>
      line === '…'
        ? '(?:.*(?:\\n|$))*'
        : `${line
            .split('…')
            .map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'))
            .join('.*')}(?:\\n|$)`,
    )
    .join('');
  const isShown = new RegExp(`^${pattern}$`);
  return isShown.test(normalized(printed)) || isShown.test(normalized(withLineForEachRow(printed)));
}

/** A result of JSON is one line; pages give each of its rows a line. */
const withLineForEachRow = (printed: string): string =>
  printed.replaceAll(/^\[(?:\{.*\})?\]$/gm, (array) =>
    ['[', jsonElements(array).join(',\n'), ']'].join('\n'),
  );

/** Functions of the shell that stand for what a reader has or does. */
const prelude = `
set -eu -o pipefail
set -a
[ ! -e "$STATE" ] || . "$STATE" 2>/dev/null
# What this step is given, not what the last one left.
curl_options=$CURL_OPTIONS_OF_STEP
curl() { command curl --silent --show-error $curl_options "$@"; local code=$?; echo; return $code; }
sleep() {
  while ! command curl --silent "$MILLRACE/metrics" |
    awk '/^millrace_wal_(bytes|segments) / { left += $2 } END { exit left > 0 }'; do command sleep 0.1; done
}
`;
const postlude = '\nunset CURL_OPTIONS_OF_STEP\nexport -p > "$STATE"\n';

/** With the ports that stand for those of a page. */
function withPorts(text: string, ports: ReadonlyMap<string, string>): string {
  let changed = text;
  for (const [documented, port] of ports) {
    changed = changed.replaceAll(
      new RegExp(`(127\\.0\\.0\\.1[:/]|--port |[Pp]ort(?:=|: ))${documented}\\b`, 'g'),
      (_, before: string) => before + port,
    );
  }
  return changed;
}

export class DocumentedPage {
  readonly service: Service;
  readonly #folder: string;
  readonly #state: string;
  /** Documented ports and those that stand for them. */
  readonly #ports: ReadonlyMap<string, string>;
  readonly #agents: Child[] = [];

  private constructor(folder: string, state: string, service: Service, ports: ReadonlyMap<string, string>) {
    this.#folder = folder;
    this.#state = state;
    this.service = service;
    this.#ports = ports;
  }

  /**
   * A service of its own, and a folder that looks like one in which it was started: `dist` and `data` are
   * there.
   */
  static async open(path: string): Promise<DocumentedPage> {
    const page = readPage(path);
    const folder = temporaryFolder('page');
    const state = join(temporaryFolder('page-state'), 'environment');
    const dataDir = join(folder, 'data');
    mkdirSync(dataDir);
    writeFileSync(join(dataDir, 'admin-password'), `${Service.credentials.password}\n`);
    for (const name of ['dist', 'deploy', 'node_modules'])
      symlinkSync(join(packageRoot(), name), join(folder, name));
    mkdirSync(join(folder, 'bin'));
    symlinkSync(collectorPath(), join(folder, 'bin', 'otelcol-contrib'));
    const ports = new Map<string, string>();
    for (const port of portsOf(page)) ports.set(port, String(await freePort()));
    const env = Object.entries(environmentOf(page)).map(([name, value]) => [name, withPorts(value, ports)]);
    const service = await Service.start({ dataDir, env: Object.fromEntries(env) as Record<string, string> });
    ports.set(documentedPort, String(service.port));
    const opened = new DocumentedPage(folder, state, service, ports);
    for (const [name, text] of filesOf(page)) {
      mkdirSync(join(folder, dirname(name)), { recursive: true });
      writeFileSync(join(folder, name), opened.#addressed(text));
    }
    const setup = setupOf(page);
    if (setup !== '') await opened.#bash(setup, '--fail-with-body');
    return opened;
  }

  /** @throws Error with what was shown and what was printed instead */
  async follow(step: Fence): Promise<void> {
    const { tags, output } = step;
    if (tags.includes('agent')) return await this.#start(step);
    if (tags.includes('poll') && output === undefined) {
      throw new Error(`line ${step.line} is tagged "poll" and shows no output`);
    }
    const isRepeated = tags.includes('poll') || this.#agents.length > 0;
    const deadline = performance.now() + (isRepeated ? patienceMs : 0);
    for (;;) {
      const problem = await this.#problemOf(step);
      if (problem === undefined) return;
      if (performance.now() > deadline) {
        throw new Error([problem, ...this.#agents.map((agent) => agent.report())].join('\n'));
      }
      await sleep(repeatMs);
    }
  }

  async dispose(): Promise<void> {
    for (const agent of this.#agents) await agent.stop('SIGKILL');
    await this.service.dispose();
    removeFolder(this.#folder);
    removeFolder(join(this.#state, '..'));
  }

  #addressed(text: string): string {
    const moved = text.replaceAll(/(?<![\w.])\/var\/(?=lib|log)/g, `${this.#folder}/var/`);
    return withPorts(moved, this.#ports);
  }

  #asDocumented(text: string): string {
    let changed = text.replaceAll(`${this.#folder}/`, '/');
    for (const [documented, port] of this.#ports) {
      changed = changed.replaceAll(`127.0.0.1:${port}`, `127.0.0.1:${documented}`);
    }
    return changed;
  }

  #environment(curlOptions: string): Record<string, string> {
    const { username, password } = Service.credentials;
    return {
      MILLRACE: this.service.url,
      AUTH: `${username}:${password}`,
      MILLRACE_DATA_DIR: join(this.#folder, 'data'),
      PATH: `${join(this.#folder, 'bin')}:${process.env['PATH']}`,
      SQL_CLIENTS: sqlClientsFolder(),
      STATE: this.#state,
      CURL_OPTIONS_OF_STEP: curlOptions,
    };
  }

  /** @returns what the commands print. @throws Error when one of them fails */
  async #bash(commands: string, curlOptions: string): Promise<string> {
    const { stdout } = await promisify(execFile)(
      'bash',
      ['-c', prelude + this.#addressed(commands) + postlude],
      {
        cwd: this.#folder,
        env: { ...process.env, ...this.#environment(curlOptions) },
        maxBuffer: 64 * 1024 * 1024,
      },
    );
    return this.#asDocumented(stdout);
  }

  /** Runs a step. @returns what is wrong with it; undefined when it does what the page says */
  async #problemOf(step: Fence): Promise<string | undefined> {
    const { line, text, output } = step;
    try {
      const printed = await this.#bash(text, output === undefined ? '--fail-with-body' : '');
      if (output === undefined || showsAs(output, printed)) return undefined;
      return `line ${line} prints something else:\n${text}\n--- shown\n${output}\n--- printed\n${printed}`;
    } catch (thrown) {
      const { stdout = '', stderr = '' } = thrown as { stdout?: string; stderr?: string };
      return `line ${line} fails:\n${text}\n${stdout}\n${stderr}`;
    }
  }

  async #start(step: Fence): Promise<void> {
    const child = await Child.start({
      name: `the agent of line ${step.line}`,
      command: 'bash',
      args: ['-c', prelude + this.#addressed(step.text)],
      cwd: this.#folder,
      env: this.#environment(''),
    });
    this.#agents.push(child);
  }
}
