import { aggregateFunctions } from './aggregates/aggregates.ts';
import { windowFunctions } from './aggregates/windows.ts';
import { elementFunctions } from './arrays/array-elements.ts';
import { arrayFunctions } from './arrays/arrays.ts';
import { byteaFunctions, withBytes } from './bytes/bytea.ts';
import { conditionalFunctions } from './conditional.ts';
import type { FunctionDefinition, FunctionTable } from './definition.ts';
import { introspectionFunctions } from './introspection.ts';
import { jsonFunctions } from './json/json.ts';
import { exactFunctions } from './numbers/exact-functions.ts';
import { mathFunctions } from './numbers/math.ts';
import { setFunctionNames } from './set-returning.ts';
import { characterFunctions } from './text/character-codes.ts';
import { regexFunctions } from './text/regex-functions.ts';
import { textFunctions } from './text/text.ts';
import { timeFunctions } from './time/time.ts';
import { withTimeOfDay } from './time/time-of-day.ts';

/** Every scalar function that a query may call, by PostgreSQL's name. What isn't here doesn't exist. */
const scalarFamilies = {
  text: withBytes({ ...textFunctions, ...characterFunctions }),
  bytes: byteaFunctions,
  'regular expressions': regexFunctions,
  numbers: { ...mathFunctions, ...exactFunctions },
  time: withTimeOfDay(timeFunctions),
  conditions: conditionalFunctions,
  arrays: { ...arrayFunctions, ...elementFunctions },
  JSON: jsonFunctions,
  introspection: introspectionFunctions,
} as const satisfies Readonly<Record<string, FunctionTable>>;

const scalarFunctions: FunctionTable = Object.assign({}, ...Object.values(scalarFamilies));

export const findFunction = (name: string): FunctionDefinition | undefined =>
  Object.hasOwn(scalarFunctions, name) ? scalarFunctions[name] : undefined;

/** The names of all functions, for the documentation. */
export const functionFamilies: Readonly<Record<string, readonly string[]>> = {
  ...Object.fromEntries(
    Object.entries(scalarFamilies).map(([family, table]) => [family, Object.keys(table)]),
  ),
  'rows (in FROM and SELECT)': setFunctionNames,
  aggregates: Object.keys(aggregateFunctions),
  windows: Object.keys(windowFunctions),
};

/** All functions, for suggestions. */
export const functionNames: readonly string[] = Object.values(functionFamilies).flat().sort();
