import { sqlError } from '../sql-error.ts';
import type { CatalogColumn, Value } from '../system-catalog/catalog-value.ts';
import { findType, formatType } from '../system-catalog/system-types.ts';
import { converted, isEqual } from './catalog-operators.ts';
import type { CompileContext, Compiled, Frame } from './catalog-scope.ts';
import { regularExpression } from './re2-pattern.ts';
import {
  commonTypeOf,
  elementOf,
  findObject,
  lowerBound,
  quoteIdent,
  readPath,
  reservedWords,
  writeValue,
} from './value-conversion.ts';
import { bounded, requireSize, sizeOf } from './value-size.ts';

/** A call of a function: its arguments as they were given. */
interface CallOf {
  readonly args: readonly Compiled[];
  readonly context: CompileContext;
  readonly at: number | undefined;
}

interface CatalogFunction {
  readonly type: string | ((types: readonly string[]) => string);
  /** Types of the arguments: text for those that are not here. `any` as it is. */
  readonly args: readonly string[];
  readonly optional?: number;
  /** Called with NULL, too. */
  readonly takesNulls?: boolean;
  readonly run: (values: readonly Value[], call: CallOf) => Value;
}

const text = (value: Value | undefined): string => String(value ?? '');
const number = (value: Value | undefined): number => Number(value ?? 0);
const list = (value: Value | undefined): readonly Value[] => (Array.isArray(value) ? value : []);

const fn = (
  args: string,
  type: CatalogFunction['type'],
  run: CatalogFunction['run'],
  more: Pick<CatalogFunction, 'optional' | 'takesNulls'> = {},
): CatalogFunction => ({ args: args === '' ? [] : args.split(' '), type, run, ...more });

/** What there is nothing to be said of. */
const nothing = (args: string, optional = 0, type = 'text'): CatalogFunction =>
  fn(args, type, () => null, { optional });
const always = (args: string, value: Value, type: string, optional = 0): CatalogFunction =>
  fn(args, type, () => value, { optional });
const visible = always('oid', true, 'bool');

/** The privileges that a reader has; everything else is refused to everybody. */
const readable: ReadonlySet<string> = new Set(['SELECT', 'USAGE', 'CONNECT', 'EXECUTE', 'MEMBER', 'SET']);
const mayDo = (privileges: string): boolean =>
  privileges.split(',').some((privilege) => readable.has(privilege.trim().toUpperCase()));

/**
 * `has_…_privilege(role, object, privilege)`, or without the role: of an object that there is.
 * @param places of what names the object and what stands behind it
 */
const privilege = (type: string | undefined, extra = 0): CatalogFunction => ({
  type: 'bool',
  args: ['any', 'any', 'any', 'any'].slice(0, 3 + extra),
  optional: 1,
  run: (values, { context: { catalog } }) => {
    const wanted = values.at(-1);
    const object = values.at(-2 - extra) ?? null;
    if (type !== undefined && typeof object === 'string') {
      const found = /^\d+$/.test(object) ? Number(object) : findObject(object, type, catalog);
      if (found === undefined) {
        const code = type === 'regclass' ? 'sql_unknown_relation' : 'sql_bad_value';
        throw sqlError(code, `"${object}" does not exist`);
      }
    }
    if (type === 'regclass' && typeof object === 'number' && catalog.relation(object) === undefined)
      return null;
    return mayDo(text(wanted));
  },
});

const sizeUnits = ['bytes', 'kB', 'MB', 'GB', 'TB', 'PB'];

/** PostgreSQL's pg_size_pretty: a unit is used up to 10,240 of it. */
function prettySize(bytes: number): string {
  let size = Math.abs(bytes);
  let unit = 0;
  while (size >= 10_240 && unit < sizeUnits.length - 1) {
    size = Math.round(size / 1024);
    unit += 1;
  }
  return `${bytes < 0 ? '-' : ''}${size} ${sizeUnits[unit]}`;
}

const currentUser: CatalogFunction = fn('', 'name', (_, { context }) => context.catalog.session.user);

function lookUp(type: string): CatalogFunction {
  return fn('text', type, ([name], { context }) => findObject(text(name), type, context.catalog) ?? null);
}

const settingNames: Readonly<Record<string, string>> = { timezone: 'TimeZone', datestyle: 'DateStyle' };

function settingOf(name: string, { context }: CallOf): string | undefined {
  const { settings } = context.catalog.session;
  const wanted = settingNames[name.toLowerCase()] ?? name;
  return settings.find(([each]) => each.toLowerCase() === wanted.toLowerCase())?.[1];
}

const literalText = (value: string): string =>
  `${value.includes('\\') ? 'E' : ''}'${value.replaceAll("'", "''").replaceAll('\\', '\\\\')}'`;

const relationSize = fn('any text', 'int8', () => 0, { optional: 1 });

const plain: Readonly<Record<string, CatalogFunction>> = {
  version: fn('', 'text', (_, { context: { catalog } }) => {
    // Clients of the wire protocol read the version of the PostgreSQL from it whose answers are given.
    const imitated = new Map(catalog.session.settings).get('server_version');
    const own = `Millrace ${catalog.version}`;
    return imitated === undefined ? own : `PostgreSQL ${imitated} (${own})`;
  }),
  current_user: currentUser,
  current_role: currentUser,
  session_user: currentUser,
  user: currentUser,
  current_database: fn('', 'name', (_, { context }) => context.catalog.session.database),
  current_catalog: fn('', 'name', (_, { context }) => context.catalog.session.database),
  current_schema: always('', 'public', 'name'),
  current_schemas: fn('bool', '_name', ([implicit]) =>
    implicit === true ? ['pg_catalog', 'public'] : ['public'],
  ),
  pg_backend_pid: fn('', 'int4', (_, { context }) => context.catalog.session.processId),
  pg_is_in_recovery: always('', false, 'bool'),
  pg_is_wal_replay_paused: always('', false, 'bool'),
  pg_postmaster_start_time: fn(
    '',
    'timestamptz',
    (_, { context }) => context.catalog.session.serviceStartedMs,
  ),
  pg_conf_load_time: fn('', 'timestamptz', (_, { context }) => context.catalog.session.serviceStartedMs),
  txid_current: fn('', 'int8', (_, { context }) => context.catalog.session.processId + 1),
  txid_current_if_assigned: nothing('', 0, 'int8'),
  pg_current_xact_id: fn('', 'int8', (_, { context }) => context.catalog.session.processId + 1),
  inet_server_addr: nothing(''),
  inet_server_port: nothing('', 0, 'int4'),
  inet_client_addr: fn('', 'text', (_, { context }) => context.catalog.session.clientAddress ?? null),
  inet_client_port: nothing('', 0, 'int4'),
  pg_advisory_unlock_all: always('', '', 'text'),
  pg_get_userbyid: fn(
    'oid',
    'name',
    ([oid], { context }) => context.catalog.roleName(number(oid)) ?? `unknown (OID=${number(oid)})`,
  ),
  format_type: fn(
    'oid int4',
    'text',
    ([oid = null, modifier]) =>
      oid === null ? null : formatType(number(oid), typeof modifier === 'number' ? modifier : null),
    { takesNulls: true },
  ),
  pg_encoding_to_char: fn('int4', 'name', ([code]) => (code === 6 ? 'UTF8' : code === 0 ? 'SQL_ASCII' : '')),
  pg_char_to_encoding: fn('name', 'int4', ([name]) => (/^utf-?8$/i.test(text(name)) ? 6 : -1)),
  pg_client_encoding: always('', 'UTF8', 'name'),
  getdatabaseencoding: always('', 'UTF8', 'name'),
  pg_size_pretty: fn('any', 'text', ([bytes]) => prettySize(number(bytes))),
  pg_total_relation_size: relationSize,
  pg_relation_size: relationSize,
  pg_table_size: relationSize,
  pg_indexes_size: relationSize,
  pg_database_size: relationSize,
  pg_tablespace_size: relationSize,
  pg_table_is_visible: fn('oid', 'bool', ([oid], { context: { catalog } }) => {
    const relation = catalog.relation(number(oid));
    if (relation === undefined) return null;
    return relation.schema === 'public' || relation.schema === 'pg_catalog';
  }),
  pg_type_is_visible: visible,
  pg_function_is_visible: visible,
  pg_operator_is_visible: visible,
  pg_opclass_is_visible: visible,
  pg_opfamily_is_visible: visible,
  pg_collation_is_visible: visible,
  pg_conversion_is_visible: visible,
  pg_statistics_obj_is_visible: visible,
  pg_ts_config_is_visible: visible,
  pg_ts_dict_is_visible: visible,
  pg_ts_parser_is_visible: visible,
  pg_ts_template_is_visible: visible,
  obj_description: nothing('oid name', 1),
  shobj_description: nothing('oid name'),
  col_description: nothing('oid int4'),
  pg_get_expr: nothing('text oid bool', 1),
  pg_get_indexdef: nothing('oid int4 bool', 2),
  pg_get_constraintdef: nothing('oid bool', 1),
  pg_get_viewdef: nothing('any bool', 1),
  pg_get_ruledef: nothing('oid bool', 1),
  pg_get_triggerdef: nothing('oid bool', 1),
  pg_get_functiondef: nothing('oid'),
  pg_get_function_result: nothing('oid'),
  pg_get_function_arguments: nothing('oid'),
  pg_get_function_identity_arguments: nothing('oid'),
  pg_get_function_arg_default: nothing('oid int4'),
  pg_get_function_sqlbody: nothing('oid'),
  pg_get_partkeydef: nothing('oid'),
  pg_get_partition_constraintdef: nothing('oid'),
  pg_get_serial_sequence: nothing('text text'),
  pg_get_statisticsobjdef: nothing('oid'),
  pg_get_statisticsobjdef_columns: nothing('oid'),
  pg_relation_is_publishable: always('regclass', false, 'bool'),
  pg_relation_filenode: nothing('regclass', 0, 'oid'),
  pg_tablespace_location: always('oid', '', 'text'),
  pg_stat_get_numscans: always('oid', 0, 'int8'),
  pg_index_column_has_property: nothing('regclass int4 text', 0, 'bool'),
  pg_column_is_updatable: always('regclass int2 bool', false, 'bool'),
  pg_relation_is_updatable: always('regclass bool', 0, 'int4'),
  pg_get_replica_identity_index: nothing('regclass', 0, 'oid'),
  pg_stat_get_snapshot_timestamp: nothing('', 0, 'timestamptz'),
  pg_my_temp_schema: always('', 0, 'oid'),
  pg_is_other_temp_schema: always('oid', false, 'bool'),
  pg_has_role: privilege(undefined),
  has_table_privilege: privilege('regclass'),
  has_any_column_privilege: privilege('regclass'),
  has_column_privilege: privilege('regclass', 1),
  has_schema_privilege: privilege('regnamespace'),
  has_database_privilege: privilege(undefined),
  has_function_privilege: privilege(undefined),
  has_sequence_privilege: privilege('regclass'),
  has_type_privilege: privilege(undefined),
  has_tablespace_privilege: privilege(undefined),
  has_language_privilege: privilege(undefined),
  has_server_privilege: privilege(undefined),
  to_regclass: lookUp('regclass'),
  to_regtype: fn('text', 'regtype', ([name]) => findType(text(name))?.oid ?? null),
  to_regproc: lookUp('regproc'),
  to_regnamespace: lookUp('regnamespace'),
  to_regrole: lookUp('regrole'),
  quote_ident: fn('text', 'text', ([name]) => quoteIdent(text(name))),
  quote_literal: fn('text', 'text', ([value]) => literalText(text(value))),
  quote_nullable: fn(
    'text',
    'text',
    ([value = null]) => (value === null ? 'NULL' : literalText(text(value))),
    {
      takesNulls: true,
    },
  ),
  parse_ident: fn('text bool', '_text', ([name]) => [...readPath(text(name))], { optional: 1 }),
  current_setting: fn(
    'text bool',
    'text',
    ([name, missingOk], call) => {
      const value = settingOf(text(name), call);
      if (value !== undefined) return value;
      if (missingOk === true) return null;
      throw sqlError('sql_bad_value', `unrecognized configuration parameter "${text(name)}"`, call.at);
    },
    { optional: 1 },
  ),
  set_config: fn(
    'text text bool',
    'text',
    ([name = null, value = null, isLocal], { context }) => {
      if (name === null) return null;
      if (context.catalog.session.processId === 0)
        throw sqlError('sql_unsupported', 'set_config outside of a session is not supported');
      context.effects(text(name), value === null ? null : text(value), isLocal === true);
      return value;
    },
    { takesNulls: true },
  ),
  pg_typeof: fn('any', 'regtype', (_, { args }) => findType(args[0]?.type ?? '')?.oid ?? 705, {
    takesNulls: true,
  }),
  array_to_string: fn('any text text', 'text', arrayToString, { optional: 1, takesNulls: true }),
  array_length: fn('any int4', 'int4', ([array]) => list(array).length || null),
  cardinality: fn('any', 'int4', ([array]) => list(array).length),
  array_upper: fn('any int4', 'int4', ([array], { args }) =>
    list(array).length === 0 ? null : list(array).length - 1 + lowerBound(args[0]?.type ?? ''),
  ),
  array_lower: fn('any int4', 'int4', ([array], { args }) =>
    list(array).length === 0 ? null : lowerBound(args[0]?.type ?? ''),
  ),
  array_position: fn('any any', 'int4', ([array, item = null], { args }) => {
    const index = list(array).findIndex((each) => isEqual(each, item));
    return index < 0 ? null : index + lowerBound(args[0]?.type ?? '');
  }),
  array_append: fn(
    'any any',
    (types) => types[0] ?? '_text',
    ([array, item = null]) => list(array).concat([item]),
    { takesNulls: true },
  ),
  array_cat: fn(
    'any any',
    (types) => types[0] ?? '_text',
    ([first, second]) => list(first).concat(list(second)),
    { takesNulls: true },
  ),
  lower: fn('text', 'text', ([value]) => text(value).toLowerCase()),
  upper: fn('text', 'text', ([value]) => text(value).toUpperCase()),
  length: fn('text', 'int4', ([value]) => [...text(value)].length),
  char_length: fn('text', 'int4', ([value]) => [...text(value)].length),
  trim: fn('text', 'text', ([value]) => withoutLetters(text(value), '')),
  btrim: fn('text text', 'text', ([value, letters]) => withoutLetters(text(value), text(letters)), {
    optional: 1,
  }),
  format: { type: 'text', args: ['text', 'any'], takesNulls: true, run: format },
  json_build_object: {
    type: 'json',
    args: ['any'],
    takesNulls: true,
    run: (values) => {
      requireSize(sizeOf(values));
      const pairs: Array<readonly [string, Value]> = [];
      for (let index = 0; index < values.length; index += 2)
        pairs.push([text(values[index]), values[index + 1] ?? null]);
      return JSON.stringify(Object.fromEntries(pairs));
    },
  },
  string_to_array: fn('text text', '_text', ([value, by]) =>
    text(value) === '' ? [] : text(value).split(text(by)),
  ),
  concat: { type: 'text', args: ['any'], takesNulls: true, run: concat },
  replace: fn('text text text', 'text', ([value, from, to]) => {
    const [whole, part, by] = [text(value), text(from), text(to)];
    // PostgreSQL finds nothing where there is nothing to look for.
    if (part === '') return whole;
    let count = 0;
    for (let at = whole.indexOf(part); at >= 0; at = whole.indexOf(part, at + part.length)) count += 1;
    requireSize(whole.length + count * Math.max(0, by.length - part.length));
    return whole.split(part).join(by);
  }),
  translate: fn('text text text', 'text', ([value, from, to]) => {
    const [source, target] = [[...text(from)], [...text(to)]];
    return [...text(value)]
      .flatMap((each) => {
        const index = source.indexOf(each);
        return index < 0 ? [each] : (target[index] ?? []);
      })
      .join('');
  }),
  substring: fn('text any int4', 'text', substring, { optional: 1 }),
  substr: fn('text int4 int4', 'text', substring, { optional: 1 }),
  left: fn('text int4', 'text', ([value, count]) => [...text(value)].slice(0, number(count)).join('')),
  split_part: fn('text text int4', 'text', ([value, by, place]) =>
    text(text(value).split(text(by))[number(place) - 1]),
  ),
  strpos: fn('text text', 'int4', ([value, part]) => text(value).indexOf(text(part)) + 1),
  position: fn('text text', 'int4', ([value, part]) => text(value).indexOf(text(part)) + 1),
  starts_with: fn('text text', 'bool', ([value, start]) => text(value).startsWith(text(start))),
  regexp_replace: fn(
    'text text text text',
    'text',
    ([value, pattern, by, flags]) => {
      const matcher = regularExpression(text(pattern), text(flags)).matcher(text(value));
      const groups = text(by).split('\\').length - 1;
      // It may be found at each place, and each group may be the whole text.
      const places = text(flags).includes('g') ? text(value).length + 1 : 1;
      requireSize((places * (text(by).length + groups * text(value).length)) / 16);
      const replacement = text(by)
        .replaceAll('$', '$$$$')
        .replace(/\\(\d)/g, '$$$1');
      return text(flags).includes('g') ? matcher.replaceAll(replacement) : matcher.replaceFirst(replacement);
    },
    { optional: 1 },
  ),
  now: fn('', 'timestamptz', (_, { context }) => nowOf(context)),
  current_timestamp: fn('', 'timestamptz', (_, { context }) => nowOf(context)),
  clock_timestamp: fn('', 'timestamptz', (_, { context }) => nowOf(context)),
  transaction_timestamp: fn('', 'timestamptz', (_, { context }) => nowOf(context)),
  _pg_truetypid: fn('any any', 'oid', () => 0),
};

/** The time, which no answer is remembered for. */
const nowOf = ({ catalog }: CompileContext): number => Math.max(catalog.session.startedMs, Date.now());

function arrayToString(
  [array = null, separator = null, nullText = null]: readonly Value[],
  call: CallOf,
): Value {
  if (array === null || separator === null) return null;
  const type = elementOf(call.args[0]?.type ?? '');
  requireSize(sizeOf(array) + list(array).length * (sizeOf(separator) + sizeOf(nullText ?? '')));
  return list(array)
    .filter((item) => item !== null || nullText !== null)
    .map((item) => (item === null ? text(nullText) : writeValue(item, type, call.context.catalog)))
    .join(text(separator));
}

/** `%s`, `%I` and `%L`, one after the other. */
function format([pattern = null, ...values]: readonly Value[], { args, context }: CallOf): Value {
  if (pattern === null) return null;
  requireSize(sizeOf(pattern) + sizeOf(values));
  const written = values.map((value, index) =>
    value === null ? null : writeValue(value, args[index + 1]?.type ?? 'text', context.catalog),
  );
  let next = 0;
  return text(pattern).replace(/%([%sIL])/g, (_, kind: string) => {
    if (kind === '%') return '%';
    const value = written[next++] ?? null;
    if (kind === 'I') return quoteIdent(value ?? '');
    return kind === 'L' ? (value === null ? 'NULL' : literalText(value)) : (value ?? '');
  });
}

/** Without these letters at both ends; blanks, if none are named: other white space stays. */
function withoutLetters(value: string, letters: string): string {
  const unwanted = letters || ' ';
  let [start, end] = [0, value.length];
  while (start < end && unwanted.includes(value[start] ?? '')) start += 1;
  while (end > start && unwanted.includes(value[end - 1] ?? '')) end -= 1;
  return value.slice(start, end);
}

function concat(values: readonly Value[], { args, context }: CallOf): string {
  requireSize(sizeOf(values));
  return values
    .map((value, index) => writeValue(value, args[index]?.type ?? 'text', context.catalog))
    .join('');
}

function substring([value, start, count]: readonly Value[]): Value {
  if (typeof start === 'string') {
    const matcher = regularExpression(start, '').matcher(text(value));
    if (!matcher.find()) return null;
    return matcher.groupCount() > 0 ? matcher.group(1) : matcher.group();
  }
  const from = number(start) - 1;
  const letters = [...text(value)];
  return letters.slice(Math.max(0, from), count === undefined ? undefined : from + number(count)).join('');
}

/** Columns of the rows of functions that give rows, by the names that `pg_typeof` would give them. */
export const setFunctionTypes: Readonly<Record<string, readonly CatalogColumn[]>> = {
  _pg_expandarray: [
    { name: 'x', type: 'int4' },
    { name: 'n', type: 'int4' },
  ],
};

interface RowsFunction {
  readonly type: (types: readonly string[]) => string;
  readonly rows: (
    values: readonly Value[],
    types: readonly string[],
    context: CompileContext,
  ) => readonly Value[];
}

const rowsFunctions: Readonly<Record<string, RowsFunction>> = {
  unnest: {
    type: ([type = '_text']) => elementOf(type),
    rows: ([array]) => list(array),
  },
  generate_series: {
    type: () => 'int4',
    rows: ([from = null, to = null, step], _, { spend }) => {
      if (from === null || to === null) return [];
      const by = step === undefined ? 1 : number(step);
      if (by === 0) throw sqlError('sql_bad_value', 'step size cannot equal zero');
      const count = Math.max(0, Math.floor((number(to) - number(from)) / by) + 1);
      spend(count);
      requireSize(count);
      return Array.from({ length: count }, (__, index) => number(from) + index * by);
    },
  },
  generate_subscripts: {
    type: () => 'int4',
    rows: ([array], [type = '']) => list(array).map((_, index) => index + lowerBound(type)),
  },
  _pg_expandarray: {
    type: () => '_pg_expandarray',
    rows: ([array], [type = '']) =>
      list(array).map((item, index) => [item, index + (lowerBound(type) === 0 ? 1 : 1)]),
  },
  pg_get_keywords: {
    type: () => 'text',
    rows: () => [...reservedWords],
  },
  regexp_split_to_table: {
    type: () => 'text',
    rows: ([value = null, pattern]) =>
      value === null ? [] : regularExpression(text(pattern), '').split(text(value)),
  },
  string_to_table: {
    type: () => 'text',
    rows: ([value = null, by]) => (value === null ? [] : text(value).split(text(by))),
  },
};

export const isRowsFunction = (name: string): boolean => Object.hasOwn(rowsFunctions, name);

/** A function that gives rows. */
export function rowsOf(
  name: string,
  args: readonly Compiled[],
  context: CompileContext,
  at: number | undefined,
): { readonly type: string; readonly rows: (frame: Frame) => readonly Value[] } {
  const found = rowsFunctions[name];
  if (found === undefined) throw unknownFunction(name, args, at);
  const given = args.map((arg) => {
    if (arg.type !== 'unknown') return arg;
    return converted(
      arg,
      name === 'unnest' ? '_text' : name.startsWith('generate') ? 'int4' : 'text',
      context.catalog,
    );
  });
  const types = given.map(({ type }) => type);
  return {
    type: found.type(types),
    rows: (frame) =>
      found.rows(
        given.map(({ run }) => run(frame)),
        types,
        context,
      ),
  };
}

const unknownFunction = (name: string, args: readonly Compiled[], at: number | undefined): Error =>
  sqlError(
    'sql_unknown_function',
    `function ${name}(${args.map(({ type }) => type).join(', ')}) does not exist in queries of the catalog`,
    at,
  );

/** Calls a function by its name. @throws AppError `sql_unknown_function` */
export function callFunction(
  name: string,
  args: readonly Compiled[],
  context: CompileContext,
  at: number | undefined,
): Compiled {
  if (isRowsFunction(name)) {
    const { type, rows } = rowsOf(name, args, context, at);
    const place = context.scope.compute({ kind: 'rows', compute: rows });
    return { type, run: (frame) => frame.computed[place] ?? null };
  }
  if (name === 'coalesce' || name === 'nullif' || name === 'greatest' || name === 'least')
    return conditional(name, args, context);
  const found = Object.hasOwn(plain, name) ? plain[name] : undefined;
  const variadic = name === 'concat' || name === 'format' || name === 'json_build_object';
  const { length } = found?.args ?? [];
  if (
    found === undefined ||
    (!variadic && (args.length > length || args.length < length - (found.optional ?? 0)))
  ) {
    throw unknownFunction(name, args, at);
  }
  const given = args.map((arg, index) => {
    const wanted = variadic && index > 0 ? 'any' : (found.args[index] ?? 'any');
    if (wanted !== 'any') return converted(arg, wanted, context.catalog);
    return arg.type === 'unknown' ? converted(arg, 'text', context.catalog) : arg;
  });
  const call: CallOf = { args: given, context, at };
  const type = typeof found.type === 'function' ? found.type(given.map((arg) => arg.type)) : found.type;
  return {
    type,
    run: (frame) => {
      const values = given.map(({ run }) => run(frame));
      if (found.takesNulls !== true && values.includes(null)) return null;
      return bounded(found.run(values, call) ?? null);
    },
  };
}

function conditional(name: string, args: readonly Compiled[], { catalog }: CompileContext): Compiled {
  const type = commonTypeOf(args.map((arg) => arg.type));
  const runs = args.map((arg) => converted(arg, type, catalog).run);
  const known = (frame: Frame): readonly Value[] =>
    runs.map((run) => run(frame)).filter((value) => value !== null);
  switch (name) {
    case 'coalesce':
      return {
        type,
        run: (frame) => {
          for (const run of runs) {
            const value = run(frame);
            if (value !== null) return value;
          }
          return null;
        },
      };
    case 'nullif':
      return {
        type,
        run: (frame) => {
          const [value = null, other = null] = runs.map((run) => run(frame));
          return value !== null && other !== null && isEqual(value, other) ? null : value;
        },
      };
    default: {
      const sign = name === 'greatest' ? 1 : -1;
      return {
        type,
        run: (frame) =>
          known(frame).reduce<Value>(
            (best, value) => (best === null || Number(value) * sign > Number(best) * sign ? value : best),
            null,
          ),
      };
    }
  }
}

/** Functions that are there for the catalog: a statement that calls one is a query of the catalog. */
const ordinary: ReadonlySet<string> = new Set(
  (
    'lower upper length char_length trim btrim concat replace translate substring substr left split_part strpos ' +
    'position starts_with regexp_replace format string_to_array json_build_object now current_timestamp ' +
    'clock_timestamp transaction_timestamp array_length cardinality array_upper array_lower array_position array_append array_cat array_to_string'
  ).split(' '),
);

const catalogRowsFunctions: ReadonlySet<string> = new Set([
  'pg_get_keywords',
  'pg_show_all_settings',
  'pg_timezone_names',
]);

export const isCatalogFunction = (name: string): boolean =>
  (Object.hasOwn(plain, name) && !ordinary.has(name)) || catalogRowsFunctions.has(name);

/** Names of the functions of the catalog, for the documentation. */
export const catalogFunctionNames: readonly string[] = [
  ...Object.keys(plain),
  ...catalogRowsFunctions,
].filter(isCatalogFunction);
