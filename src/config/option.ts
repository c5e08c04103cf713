import { errorText } from '../errors.ts';

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
  /** Secrets are not repeated in errors. */
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

/** @throws ConfigError */
export function readOption<T>(option: Option<T>, { flags, environment }: OptionTexts): T | undefined {
  const flag = flagOf(option.env);
  const fromFlag = flags.get(flag);
  const text = fromFlag ?? environment[option.env] ?? option.fallback;
  if (text === undefined) return undefined;
  const name = fromFlag === undefined ? option.env : flag;
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
