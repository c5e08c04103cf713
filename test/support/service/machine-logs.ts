import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { basename, join } from 'node:path';

/** A log line of this machine, as an event. */
export interface MachineLogEvent {
  readonly time: string;
  readonly level: string;
  readonly source: string;
  readonly file: string;
  readonly line: number;
  readonly message: string;
  /** The action of dpkg and its package, or npm's title of the line. */
  readonly action?: string;
  readonly package?: string;
  readonly title?: string;
}

/**
 * The log lines of package management on this machine: dpkg, apt and npm. Nothing is made up; without these
 * logs the result is empty.
 */
export function readMachineLogs(maxEvents: number): MachineLogEvent[] {
  const events = [
    ...linesOf('/var/log/dpkg.log', parseDpkg),
    ...linesOf('/var/log/apt/term.log', parseTerminal),
    ...npmLogs().flatMap((path) => linesOf(path, parseNpm)),
  ];
  return events.slice(-maxEvents);
}

type Parsed = Omit<MachineLogEvent, 'line' | 'file'>;
/** Parses a line, given its file and the previous event; undefined if it is not a log line. */
type Parser = (text: string, file: string, previous: MachineLogEvent | undefined) => Parsed | undefined;

function linesOf(path: string, parse: Parser): MachineLogEvent[] {
  if (!existsSync(path)) return [];
  const file = basename(path);
  const events: MachineLogEvent[] = [];
  for (const [index, text] of readFileSync(path, 'utf8').split('\n').entries()) {
    const parsed = parse(text, file, events.at(-1));
    if (parsed !== undefined) events.push({ ...parsed, file, line: index + 1 });
  }
  return events;
}

/** npm writes one file per run and removes old ones; a file that vanishes meanwhile is skipped. */
function npmLogs(): string[] {
  const folder = join(homedir(), '.npm/_logs');
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((name) => name.endsWith('.log'))
    .toSorted()
    .map((name) => join(folder, name));
}

/** `2025-06-24 14:36:25 status unpacked libsystemd0:amd64 252.36-1` */
const parseDpkg: Parser = (text) => {
  const [date, time, action, ...rest] = text.split(' ');
  if (action === undefined) return undefined;
  const event = { time: `${date}T${time}Z`, level: 'info', source: 'dpkg', message: text, action };
  // In a `status` line the new state precedes the package; a `startup` line has no package.
  const name = action === 'status' ? rest[1] : rest[0];
  return action === 'startup' || name === undefined ? event : { ...event, package: name };
};

/**
 * apt's terminal log has a time only at the start and end of a run; lines in between get the previous one.
 */
const parseTerminal: Parser = (text, _file, previous) => {
  const mark = /^Log (?:started|ended): (\S+) +(\S+)$/.exec(text);
  const time = mark === null ? previous?.time : `${mark[1]}T${mark[2]}Z`;
  if (time === undefined || text === '') return undefined;
  const level = /^(?:\S+: )?(warning|error):/i.exec(text)?.[1]?.toLowerCase() ?? 'info';
  return { time, level, source: 'apt', message: text };
};

/** `12 silly logfile start cleaning logs`, in a file named after the time of the run. */
const parseNpm: Parser = (text, file) => {
  const run = /^(.*T\d\d)_(\d\d)_(\d\d)_(\d+Z)/.exec(file);
  const line = /^\d+ (\w+) (\S+) ?(.*)$/.exec(text);
  if (run === null || line === null) return undefined;
  const [, level = '', title = '', message = ''] = line;
  return { time: `${run[1]}:${run[2]}:${run[3]}.${run[4]}`, level, source: 'npm', title, message };
};
