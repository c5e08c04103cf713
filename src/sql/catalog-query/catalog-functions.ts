import { sqlError } from '../sql-error.ts';
import type { Value } from '../system-catalog/catalog-value.ts';
import { arrayFunctions } from './catalog-array-functions.ts';
import type { CallOf, FunctionTable } from './catalog-function.ts';
import { objectFunctions } from './catalog-object-functions.ts';
import { converted, isEqual } from './catalog-operators.ts';
import { privilegeFunctions } from './catalog-privilege-functions.ts';
import { isRowsFunction, relationFunctions, rowsFunctions } from './catalog-rows-functions.ts';
import type { CompileContext, Compiled, Frame } from './catalog-scope.ts';
import { sessionFunctions } from './catalog-session-functions.ts';
import { textFunctions } from './catalog-text-functions.ts';
import { unified } from './common-type.ts';
import { commonTypeOf, compareValues } from './value-conversion.ts';
import { spendCall } from './value-length.ts';

/** Calls of functions in queries of the catalog, by their names. */

const catalogFunctions: FunctionTable = { ...sessionFunctions, ...objectFunctions, ...privilegeFunctions };
const plain: FunctionTable = {
  ...catalogFunctions,
  ...textFunctions,
  ...arrayFunctions,
};

/** A function that gives rows. */
export function rowsOf(
  name: string,
  args: readonly Compiled[],
  context: CompileContext,
  at: number | undefined,
): { readonly type: string; readonly rows: (frame: Frame) => readonly Value[] } {
  const found = Object.hasOwn(rowsFunctions, name) ? rowsFunctions[name] : undefined;
  if (found === undefined || args.length < found.arity[0] || args.length > found.arity[1])
    throw unknownFunction(name, args, at);
  const given = args.map((arg) =>
    arg.type === 'unknown' ? converted(arg, found.defaultType, context.catalog) : arg,
  );
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
    return conditional(name, args, context, at);
  const found = Object.hasOwn(plain, name) ? plain[name] : undefined;
  const { length } = found?.args ?? [];
  const isTooLong = found?.variadic !== true && args.length > length;
  if (found === undefined || isTooLong || args.length < length - (found.optional ?? 0))
    throw unknownFunction(name, args, at);
  const given = args.map((arg, index) => {
    const wanted = found.args[index] ?? 'any';
    if (wanted !== 'any') return converted(arg, wanted, context.catalog);
    if (name === 'pg_typeof') return arg;
    return arg.type === 'unknown' ? converted(arg, 'text', context.catalog) : arg;
  });
  const call: CallOf = { args: given, context, at };
  const type = typeof found.type === 'function' ? found.type(given.map((arg) => arg.type)) : found.type;
  return {
    type,
    run: (frame) => {
      const values = given.map(({ run }) => run(frame));
      if (found.takesNulls !== true && values.includes(null)) return null;
      const value = found.run(values, call) ?? null;
      spendCall(context, values, value);
      return value;
    },
  };
}

function conditional(
  name: string,
  args: readonly Compiled[],
  context: CompileContext,
  at: number | undefined,
): Compiled {
  if (name === 'nullif' && args.length !== 2) throw unknownFunction(name, args, at);
  const own = name === 'nullif' ? args[0]?.type : undefined;
  const type = commonTypeOf(args.map((arg) => arg.type));
  const runs = unified(args, context, name.toUpperCase(), at).map(({ run }) => run);
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
        type: own === undefined || own === 'unknown' ? type : own,
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
          runs
            .map((run) => run(frame))
            .reduce<Value>(
              (best, value) =>
                value === null || (best !== null && compareValues(value, best) * sign <= 0) ? best : value,
              null,
            ),
      };
    }
  }
}

/** A statement that calls one of these is a query of the catalog. */
const ordinary: ReadonlySet<string> = new Set([
  ...Object.keys({ ...textFunctions, ...arrayFunctions }),
  ...['now', 'current_timestamp', 'clock_timestamp', 'statement_timestamp', 'transaction_timestamp', 'age'],
]);
/** Functions of texts that the store does not know. */
const ofCatalogOnly: readonly string[] = ['quote_ident', 'quote_literal', 'quote_nullable', 'parse_ident'];
const catalogRowsFunctions: readonly string[] = [
  'pg_get_keywords',
  '_pg_expandarray',
  ...Object.keys(relationFunctions),
];

/** Names of the functions of the catalog. */
export const catalogFunctionNames: readonly string[] = [
  ...Object.keys(plain).filter((name) => !ordinary.has(name)),
  ...ofCatalogOnly,
  ...catalogRowsFunctions,
];

const catalogNames: ReadonlySet<string> = new Set(catalogFunctionNames);
export const isCatalogFunction = (name: string): boolean => catalogNames.has(name);
