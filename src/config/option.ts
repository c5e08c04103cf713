import { closeSync, openSync, readSync } from 'node:fs';
import { errorText } from '../errors.ts';
import { limits } from '../limits/limits.ts';

/**
 * An option has an invalid value. The message names the option, the value and what is allowed. The
 * process exits with 2.
 */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

/** One configuration option. */
export interface Option<T> {
  readonly env: string;
  readonly meaning: string;
  /** The default as text; undefined for none. */
  readonly fallback: string | undefined;
  /** What documentation says in place of a default that depends on the machine or on other options. */
  readonly fallbackShown?: string;
  /** Secrets are not repeated in errors. They can be in a file, which `<variable>_FILE` names. */
  readonly secret?: true;
  /**
   * Returns undefined for a text that is not allowed, or throws an error that says why,
   * without repeating secrets.
   */
  readonly parse: (text: string) => T | undefined;
  readonly allowed: string;
}

/** The texts of options. A flag has precedence over the environment. */
export interface OptionTexts {
  readonly flags: ReadonlyMap<string, string>;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/** `MILLRACE_HTTP_ADDR` → `--http-addr` */
export const flagOf = (env: string): string =>
  `--${env.slice('MILLRACE_'.length).toLowerCase().replaceAll('_', '-')}`;

/** The variable that names the file with a secret: `MILLRACE_SECRET` → `MILLRACE_SECRET_FILE` */
export const fileVariableOf = (env: string): string => `${env}_FILE`;

/** The variables that an option is read from. */
export const variablesOf = ({ env, secret }: Pick<Option<unknown>, 'env' | 'secret'>): readonly string[] =>
  secret === true ? [env, fileVariableOf(env)] : [env];

/** The file that a secret is read from, if it is read from one. */
export const fileOf = ({ env }: Option<unknown>, texts: OptionTexts): string | undefined =>
  givenBy(fileVariableOf(env), texts)?.text;

/** Where a text was given, and what it is. */
interface Given {
  readonly name: string;
  readonly text: string;
}

function givenBy(env: string, { flags, environment }: OptionTexts): Given | undefined {
  const flag = flags.get(flagOf(env));
  if (flag !== undefined) return { name: flagOf(env), text: flag };
  const variable = environment[env];
  return variable === undefined ? undefined : { name: env, text: variable };
}

/** What an option was given, itself or by its file. */
function givenText({ env, secret }: Option<unknown>, texts: OptionTexts): Given | undefined {
  const given = givenBy(env, texts);
  const file = secret === true ? givenBy(fileVariableOf(env), texts) : undefined;
  if (file === undefined) return given;
  if (given !== undefined)
    throw new ConfigError(`${given.name} and ${file.name} are both set; set one of them`);
  return { name: file.name, text: readSecretFile(file) };
}

/** Without the line break at its end, which editors and `echo` put there. */
function readSecretFile({ name, text: path }: Given): string {
  const maxBytes = limits.secretFileMaxBytes;
  const buffer = Buffer.alloc(maxBytes + 1);
  let length = 0;
  try {
    const file = openSync(path, 'r');
    try {
      for (let read = -1; read !== 0 && length <= maxBytes; length += read)
        read = readSync(file, buffer, length, buffer.length - length, null);
    } finally {
      closeSync(file);
    }
  } catch (error) {
    throw new ConfigError(`${name} names a file that cannot be read: ${errorText(error)}`);
  }
  if (length > maxBytes)
    throw new ConfigError(`${name} names the file ${path}, which is larger than ${maxBytes} bytes`);
  return buffer.toString('utf8', 0, length).replace(/\r?\n$/, '');
}

/** @throws ConfigError */
export function readOption<T>(option: Option<T>, texts: OptionTexts): T | undefined {
  const given = givenText(option, texts);
  const text = given?.text ?? option.fallback;
  if (text === undefined) return undefined;
  const name = given?.name ?? option.env;
  const shown = option.secret === true ? '' : ` is ${JSON.stringify(text)}, which`;
  const refuse = (reason: string): ConfigError =>
    new ConfigError(`${name}${shown} cannot be used${reason}: ${option.meaning}. Allowed: ${option.allowed}`);
  let value: T | undefined;
  try {
    value = option.parse(text);
  } catch (error) {
    throw refuse(`, because ${errorText(error)}`);
  }
  if (value === undefined) throw refuse('');
  return value;
}

/** Like `readOption`, for an option with a default. */
export function needOption<T>(option: Option<T>, texts: OptionTexts): T {
  const value = readOption(option, texts);
  if (value === undefined) throw new Error(`BUG: ${option.env} has neither value nor default`);
  return value;
}
