import { clientOptions } from './client-options.ts';
import { flagOf } from './option.ts';

/** The commands, beside the service itself. */
export const commandNames = ['query', 'health', 'backup', 'restore', 'dead'] as const;
export type CommandName = (typeof commandNames)[number];

const { url, key, user, tenant } = clientOptions;
const asking = [url, key, user, tenant].flatMap(({ env, meaning, allowed }) => [
  `  ${flagOf(env)}, ${env}`,
  `      ${meaning}`,
  `      ${allowed}`,
]);
const dataDir = [
  '  --data-dir, MILLRACE_DATA_DIR',
  '      where the address and the password of a service on this machine are; default ./data',
];

/** What `millrace <command> --help` prints. */
export const commandHelp: Readonly<Record<CommandName, readonly string[]>> = {
  query: [
    'millrace query: run a query and print its result',
    '',
    'Usage: millrace query "SELECT …"        the SQL is one argument',
    '       millrace query - < file.sql      the SQL is read from stdin',
    '',
    'A table is printed as psql does it: NULL is empty, and control characters are escaped. The other formats are',
    'those of the HTTP API. Ctrl-C cancels the query.',
    '',
    'Exit codes: 0 for a whole result, 1 if the query failed or the service was not reached, 2 for a wrong',
    'option, 130 after Ctrl-C.',
    '',
    'Options:',
    `  ${flagOf(clientOptions.format.env)}, ${clientOptions.format.env}`,
    `      ${clientOptions.format.allowed}; default table`,
    ...asking,
    ...dataDir,
  ],
  health: [
    'millrace health: ask whether the service takes requests, for HEALTHCHECK of a container',
    '',
    'Usage: millrace health',
    '',
    'Exit codes: 0 if it does, 1 if not, 2 for a wrong option.',
    '',
    'Options:',
    `  ${flagOf(url.env)}, ${url.env}`,
    `      ${url.meaning}`,
    ...dataDir,
  ],
  backup: [
    'millrace backup: back up a running service with the embedded engine',
    '',
    'Usage: millrace backup [<name>]         the name is a directory in MILLRACE_BACKUP_DIR; the time if left out',
    '',
    'It needs the administrator. The backup has every row that was acknowledged before it began. Ctrl-C ends the',
    'command and not the backup.',
    '',
    'Exit codes: 0 for a whole backup, 1 if it failed, 2 for a wrong option, 130 after Ctrl-C.',
    '',
    'Options:',
    ...asking,
    ...dataDir,
  ],
  restore: [
    'millrace restore: make a data directory from a backup',
    '',
    'Usage: millrace restore <backup> --data-dir <directory>',
    '',
    'The directory must be empty or missing. Start the service on it afterwards.',
    '',
    'Exit codes: 0 for a whole directory, 1 if it failed, 2 for a wrong option.',
    '',
    'Options:',
    '  --data-dir, MILLRACE_DATA_DIR',
    '      the directory to make; default ./data',
  ],
  dead: [
    'millrace dead: rows that the store rejected permanently',
    '',
    'Usage: millrace dead list                          list them',
    '       millrace dead retry <name>…|--all           insert these rows again; the service must be stopped',
    '       millrace dead drop <name>…|--all --yes      delete these rows; the service must be stopped',
    '',
    'Options are those of the service: millrace --help',
  ],
};
