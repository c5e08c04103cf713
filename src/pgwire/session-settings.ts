import { type TimeZone, timeZoneOf, timeZoneRule, utc } from '../lib/time-zone.ts';
import { limits } from '../limits/limits.ts';
import type { TimeSettings } from '../sql/session-times.ts';
import {
  type DateStyle,
  dateStyleText,
  type IntervalStyle,
  intervalStyles,
  isoStyle,
  readDateStyle,
} from '../sql/time-styles.ts';
import { WireError } from './protocol/wire-error.ts';

/**
 * The settings of a session, as SET, SHOW and RESET see them (PostgreSQL's "Server Configuration").
 *
 * Few have an effect here: `TimeZone` on what queries compute, `DateStyle` and `IntervalStyle` on input and
 * output, `statement_timeout` on queries. The others are there because clients set them, and keep what they
 * are given. A value that would have an effect that it does not have here is refused.
 *
 * What a transaction block sets is undone when the block is rolled back, and what SET LOCAL sets when it
 * ends.
 */
interface Definition {
  /** As SHOW writes it. */
  readonly name: string;
  readonly fallback: string;
  /** The setting whose value it has where it was not set itself. */
  readonly follows?: string;
  /** The value as it is kept; undefined: not allowed. Without it the setting cannot be changed. */
  readonly parse?: (text: string, current: string) => string | undefined;
  /** What is allowed, for the error. */
  readonly allowed?: string;
  /** The client is told of each change. */
  readonly isReported?: boolean;
}

const anyText = (text: string): string => text;
const oneOf =
  (...values: readonly string[]) =>
  (text: string): string | undefined =>
    values.find((value) => value === text.toLowerCase());
const boolean = (text: string): string | undefined => {
  const word = text.toLowerCase();
  if (['on', 'true', 'yes', '1', 't', 'y'].includes(word)) return 'on';
  return ['off', 'false', 'no', '0', 'f', 'n'].includes(word) ? 'off' : undefined;
};
const integer =
  (min: number, max: number) =>
  (text: string): string | undefined =>
    /^-?\d{1,10}$/.test(text) && Number(text) >= min && Number(text) <= max
      ? String(Number(text))
      : undefined;

/** Milliseconds, shown in the largest unit that fits. */
function duration(text: string): string | undefined {
  const match = /^(\d{1,10}) ?(us|ms|s|min|h|d)?$/.exec(text);
  if (match === null) return undefined;
  const ms = Math.round(Number(match[1]) * (unitMs.get(match[2] ?? 'ms') ?? 1));
  if (ms > 2_147_483_647) return undefined;
  const [unit] =
    [...unitMs].toReversed().find(([, size]) => size >= 1 && ms >= size && ms % size === 0) ?? [];
  return ms === 0 ? '0' : `${ms / (unitMs.get(unit ?? 'ms') ?? 1)}${unit ?? 'ms'}`;
}

const unitMs: ReadonlyMap<string, number> = new Map([
  ['us', 0.001],
  ['ms', 1],
  ['s', 1000],
  ['min', 60_000],
  ['h', 3_600_000],
  ['d', 86_400_000],
]);

/** The milliseconds of a value that `duration` has made. */
const durationMs = (text: string): number => {
  const [, count = '0', unit = 'ms'] = /^(\d+)([a-z]*)$/.exec(text) ?? [];
  return Number(count) * (unitMs.get(unit) ?? 1);
};

const isolationLevels = oneOf('serializable', 'repeatable read', 'read committed', 'read uncommitted');

/** What the text does not say stays as it is. */
function dateStyle(text: string, current: string): string | undefined {
  const style = readDateStyle(text, readDateStyle(current));
  return style && dateStyleText(style);
}

const encoding = (text: string): string | undefined =>
  /^(utf-?8|unicode)$/i.test(text.replace(/[' ]/g, '')) ? 'UTF8' : undefined;

const fixed = (name: string, fallback: string, isReported = false): Definition => ({
  name,
  fallback,
  isReported,
});
const free = (name: string, fallback: string): Definition => ({ name, fallback, parse: anyText });
const switched = (name: string, fallback: 'on' | 'off'): Definition => ({
  name,
  fallback,
  parse: boolean,
  allowed: 'on, off',
});

/** @param serverVersion of the PostgreSQL whose answers are given */
function definitionsFor(serverVersion: string, versionNumber: string): readonly Definition[] {
  return [
    fixed('server_version', serverVersion, true),
    fixed('server_version_num', versionNumber),
    fixed('server_encoding', 'UTF8', true),
    fixed('integer_datetimes', 'on', true),
    fixed('max_identifier_length', '63'),
    fixed('block_size', '8192'),
    fixed('max_index_keys', '32'),
    fixed('data_checksums', 'off'),
    fixed('ssl', 'off'),
    fixed('lc_collate', 'C'),
    fixed('lc_ctype', 'C.UTF-8'),
    fixed('in_hot_standby', 'off', true),
    {
      name: 'transaction_deferrable',
      fallback: 'off',
      follows: 'default_transaction_deferrable',
      parse: boolean,
      allowed: 'on, off',
    },
    fixed('max_connections', String(limits.pgMaxConnections)),
    fixed('wal_level', 'replica'),
    fixed('shared_preload_libraries', ''),
    { name: 'is_superuser', fallback: 'off', isReported: true },
    { name: 'session_authorization', fallback: '', isReported: true },
    { name: 'application_name', fallback: '', parse: anyText, isReported: true },
    { name: 'client_encoding', fallback: 'UTF8', parse: encoding, allowed: 'UTF8', isReported: true },
    {
      name: 'DateStyle',
      fallback: 'ISO, MDY',
      parse: dateStyle,
      allowed: 'ISO, SQL, Postgres or German, with MDY, DMY or YMD',
      isReported: true,
    },
    {
      name: 'IntervalStyle',
      fallback: 'postgres',
      parse: oneOf(...intervalStyles),
      allowed: intervalStyles.join(', '),
      isReported: true,
    },
    {
      name: 'TimeZone',
      fallback: 'UTC',
      parse: (text) => timeZoneOf(text)?.name,
      allowed: timeZoneRule,
      isReported: true,
    },
    {
      name: 'standard_conforming_strings',
      fallback: 'on',
      parse: (text) => (boolean(text) === 'on' ? 'on' : undefined),
      allowed: 'on',
      isReported: true,
    },
    {
      name: 'default_transaction_read_only',
      fallback: 'on',
      parse: boolean,
      allowed: 'on, off',
      isReported: true,
    },
    {
      name: 'transaction_read_only',
      fallback: 'on',
      follows: 'default_transaction_read_only',
      parse: boolean,
      allowed: 'on, off',
    },
    {
      name: 'default_transaction_isolation',
      fallback: 'read committed',
      parse: isolationLevels,
      allowed: 'an isolation level',
    },
    {
      name: 'transaction_isolation',
      fallback: 'read committed',
      follows: 'default_transaction_isolation',
      parse: isolationLevels,
      allowed: 'an isolation level',
    },
    switched('default_transaction_deferrable', 'off'),
    {
      name: 'statement_timeout',
      fallback: '0',
      parse: duration,
      allowed: 'milliseconds, or a number with a unit',
    },
    {
      name: 'lock_timeout',
      fallback: '0',
      parse: duration,
      allowed: 'milliseconds, or a number with a unit',
    },
    {
      name: 'idle_in_transaction_session_timeout',
      fallback: '0',
      parse: duration,
      allowed: 'milliseconds, or a number with a unit',
    },
    {
      name: 'idle_session_timeout',
      fallback: '0',
      parse: duration,
      allowed: 'milliseconds, or a number with a unit',
    },
    { name: 'extra_float_digits', fallback: '1', parse: integer(-15, 3), allowed: '-15 to 3' },
    { name: 'bytea_output', fallback: 'hex', parse: oneOf('hex', 'escape'), allowed: 'hex, escape' },
    free('search_path', '"$user", public'),
    free('client_min_messages', 'notice'),
    free('role', 'none'),
    free('lc_messages', 'C'),
    free('lc_monetary', 'C'),
    free('lc_numeric', 'C'),
    free('lc_time', 'C'),
    free('work_mem', '4MB'),
    free('maintenance_work_mem', '64MB'),
    free('temp_buffers', '8MB'),
    free('synchronous_commit', 'on'),
    free('default_tablespace', ''),
    free('default_table_access_method', 'heap'),
    free('xmloption', 'content'),
    free('xmlbinary', 'base64'),
    free('cursor_tuple_fraction', '0.1'),
    free('max_parallel_workers_per_gather', '2'),
    free('statement_mem', '0'),
    free('plan_cache_mode', 'auto'),
    free('force_parallel_mode', 'off'),
    free('random_page_cost', '4'),
    free('seq_page_cost', '1'),
    switched('escape_string_warning', 'on'),
    switched('backslash_quote', 'on'),
    switched('row_security', 'on'),
    switched('jit', 'off'),
    switched('geqo', 'on'),
    switched('enable_seqscan', 'on'),
    switched('enable_indexscan', 'on'),
    switched('enable_bitmapscan', 'on'),
    switched('enable_nestloop', 'on'),
    switched('enable_hashjoin', 'on'),
    switched('enable_mergejoin', 'on'),
    switched('enable_sort', 'on'),
    switched('enable_hashagg', 'on'),
    switched('enable_material', 'on'),
    switched('array_nulls', 'on'),
    switched('quote_all_identifiers', 'off'),
    switched('check_function_bodies', 'on'),
    switched('synchronize_seqscans', 'on'),
    switched('transform_null_equals', 'off'),
  ];
}

/** PostgreSQL's version whose answers queries get; client libraries decide by it what they ask. */
export const serverVersion = '15.0';
const serverVersionNumber = '150000';

/** By the name in lower case, in that order. */
const definitions: ReadonlyMap<string, Definition> = new Map(
  definitionsFor(serverVersion, serverVersionNumber)
    .map((each) => [each.name.toLowerCase(), each] as const)
    .sort(([a], [b]) => (a < b ? -1 : 1)),
);

/** One layer of values, by the names of the settings in lower case. */
type Values = ReadonlyMap<string, string>;

interface Snapshot {
  readonly session: Values;
  readonly local: Values;
}

export class SessionSettings {
  /** What the session began with: RESET goes back there. */
  readonly #initial: Map<string, string> = new Map();
  #session: Values = new Map();
  #local: Values = new Map();
  readonly #onReport: (name: string, value: string) => void;
  readonly #zones = new Map<string, TimeZone>();
  #timeSettings: TimeSettings | undefined;
  #dateStyleText = dateStyleText(isoStyle);
  #dateStyle = isoStyle;

  /** @param onReport told of each change of a setting that clients are told of */
  constructor(onReport: (name: string, value: string) => void) {
    this.#onReport = onReport;
  }

  /**
   * A setting of the start-up packet.
   * @throws WireError
   */
  begin(name: string, value: string): void {
    // The start-up packet, and so how many there are, has a bound.
    const key = name.toLowerCase();
    this.#initial.set(key, parsed(name, value, this.#currentOf(key)));
    this.#timeSettings = undefined;
  }

  /** What is true of the session itself, which no client sets. */
  fix(name: 'session_authorization' | 'is_superuser' | 'ssl', value: string): void {
    this.#initial.set(name, value);
  }

  /** Those that clients are told of. */
  *reported(): Generator<readonly [name: string, value: string]> {
    for (const { name, isReported } of definitions.values())
      if (isReported === true) yield [name, this.get(name)];
  }

  /** @throws WireError */
  get(name: string): string {
    const key = name.toLowerCase();
    const value = this.#local.get(key) ?? this.#session.get(key) ?? this.#initial.get(key);
    if (value !== undefined) return value;
    const definition = definitions.get(key);
    if (definition === undefined) throw unknownSetting(name);
    return definition.follows === undefined ? definition.fallback : this.get(definition.follows);
  }

  /** The name as SHOW writes it. */
  shownName(name: string): string {
    return definitions.get(name.toLowerCase())?.name ?? name;
  }

  /** All, by name. */
  all(): ReadonlyArray<readonly [name: string, value: string]> {
    return Array.from(definitions.values(), ({ name }) => [name, this.get(name)] as const);
  }

  /** @throws WireError */
  set(name: string, value: string, isLocal: boolean): void {
    const key = name.toLowerCase();
    const kept = parsed(name, value, this.#currentOf(key));
    if (this.#session.size + this.#local.size >= limits.pgMaxChangedSettings)
      throw new WireError(
        '53400',
        `at most ${limits.pgMaxChangedSettings} parameters can be set; RESET ALL undoes it`,
      );
    this.#change(() => {
      if (isLocal) this.#local = new Map(this.#local).set(key, kept);
      else {
        this.#session = new Map(this.#session).set(key, kept);
        this.#local = without(this.#local, key);
      }
    });
  }

  /** @throws WireError */
  reset(name: string): void {
    const key = name.toLowerCase();
    requireChangeable(name);
    this.#change(() => {
      this.#session = without(this.#session, key);
      this.#local = without(this.#local, key);
    });
  }

  resetAll(): void {
    this.#change(() => {
      this.#session = new Map();
      this.#local = new Map();
    });
  }

  snapshot(): Snapshot {
    return { session: this.#session, local: this.#local };
  }

  /** At the end of a transaction block, and where it goes back to a savepoint. */
  restore({ session, local }: Snapshot): void {
    this.#change(() => {
      this.#session = session;
      this.#local = local;
    });
  }

  /** What SET LOCAL has set is gone when its block ends. */
  endLocal(): void {
    this.#change(() => {
      this.#local = new Map();
    });
  }

  get statementTimeoutMs(): number {
    return durationMs(this.get('statement_timeout'));
  }

  get idleInTransactionTimeoutMs(): number {
    return durationMs(this.get('idle_in_transaction_session_timeout'));
  }

  get idleTimeoutMs(): number {
    return durationMs(this.get('idle_session_timeout'));
  }

  get timeZone(): TimeZone {
    const name = this.get('TimeZone');
    const known = this.#zones.get(name);
    if (known !== undefined) return known;
    const zone = timeZoneOf(name) ?? utc;
    this.#zones.clear();
    this.#zones.set(name, zone);
    return zone;
  }

  /** What the translator needs to know; undefined where it is the default. */
  get timeSettings(): TimeSettings {
    const changed = (name: string): string | undefined => {
      const value = this.get(name);
      return value === definitions.get(name.toLowerCase())?.fallback ? undefined : value;
    };
    this.#timeSettings ??= {
      timeZone: changed('TimeZone'),
      dateStyle: changed('DateStyle'),
      intervalStyle: changed('IntervalStyle'),
    };
    return this.#timeSettings;
  }

  get dateStyle(): DateStyle {
    const text = this.get('DateStyle');
    if (text !== this.#dateStyleText) this.#dateStyle = readDateStyle(text) ?? isoStyle;
    this.#dateStyleText = text;
    return this.#dateStyle;
  }

  get intervalStyle(): IntervalStyle {
    const text = this.get('IntervalStyle');
    return intervalStyles.find((style) => style === text) ?? 'postgres';
  }

  #currentOf(key: string): string {
    return definitions.has(key) ? this.get(key) : '';
  }

  #change(change: () => void): void {
    const before = new Map(this.reported());
    change();
    this.#timeSettings = undefined;
    for (const [name, value] of this.reported()) if (before.get(name) !== value) this.#onReport(name, value);
  }
}

const without = (values: Values, key: string): Values => {
  if (!values.has(key)) return values;
  const rest = new Map(values);
  rest.delete(key);
  return rest;
};

const unknownSetting = (name: string): WireError =>
  new WireError('42704', `unrecognized configuration parameter "${name}"`);

/** Settings of extensions, which nobody checks. */
const isCustom = (name: string): boolean => /^[A-Za-z_]\w{0,62}\.[A-Za-z_]\w{0,62}$/.test(name);

function requireChangeable(name: string): Definition | undefined {
  const definition = definitions.get(name.toLowerCase());
  if (definition === undefined) {
    if (isCustom(name)) return undefined;
    throw unknownSetting(name);
  }
  if (definition.parse === undefined)
    throw new WireError('55P02', `parameter "${definition.name}" cannot be changed`);
  return definition;
}

/** @throws WireError */
function parsed(name: string, value: string, current: string): string {
  const definition = requireChangeable(name);
  if (value.length > limits.pgMaxSettingLength) {
    throw new WireError(
      '22023',
      `the value of parameter "${name}" is too long; at most ${limits.pgMaxSettingLength} characters are allowed`,
    );
  }
  const kept = definition?.parse === undefined ? value : definition.parse(value, current);
  if (kept !== undefined) return kept;
  const allowed = definition?.allowed;
  throw new WireError('22023', `invalid value for parameter "${definition?.name ?? name}": "${value}"`, {
    ...(allowed === undefined ? {} : { hint: `Allowed: ${allowed}.` }),
  });
}

/** Those of no session, which no client has set. */
export const defaultSettings = (): ReadonlyArray<readonly [name: string, value: string]> =>
  new SessionSettings(() => undefined).all();
