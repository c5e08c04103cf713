import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { basename, join } from 'node:path';

/** One line of a log of this machine, as the event that is sent. */
export interface MachineLogEvent {
  readonly time: string;
  readonly level: string;
  readonly source: string;
  readonly file: string;
  readonly line: number;
  readonly message: string;
  /** What dpkg did, and to which package; npm's own title of the line. */
  readonly action?: string;
  readonly package?: string;
  readonly title?: string;
}

/**
 * The lines that package management has left on this machine: dpkg, apt and npm. Nothing is made up; a machine
 * that has none of these logs yields none.
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
/** What a line says, if it is one of the log's: given its file and the event before it. */
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

/** npm starts a file a run and removes old ones; one that goes while we look is simply not there. */
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
  // A `status` line has the new state before the package; a `startup` line is about no package.
  const name = action === 'status' ? rest[1] : rest[0];
  return action === 'startup' || name === undefined ? event : { ...event, package: name };
};

/** apt's terminal has a time at the start and end of each run only; lines between carry the one before them. */
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
