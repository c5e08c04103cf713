import { aggregateFunctions } from './aggregates.ts';
import { arrayFunctions } from './arrays.ts';
import { conditionalFunctions } from './conditional.ts';
import type { FunctionDefinition, FunctionTable } from './definition.ts';
import { jsonFunctions } from './json.ts';
import { mathFunctions } from './math.ts';
import { regexFunctions } from './regex-functions.ts';
import { setFunctionNames } from './sets.ts';
import { textFunctions } from './text.ts';
import { timeFunctions } from './time.ts';
import { windowFunctions } from './windows.ts';

/** Every scalar function that a query may call, by PostgreSQL's name. What isn't here doesn't exist. */
const scalarFunctions: FunctionTable = {
  ...textFunctions,
  ...mathFunctions,
  ...timeFunctions,
  ...conditionalFunctions,
  ...arrayFunctions,
  ...regexFunctions,
  ...jsonFunctions,
};

export const findFunction = (name: string): FunctionDefinition | undefined =>
  Object.hasOwn(scalarFunctions, name) ? scalarFunctions[name] : undefined;

/** All functions, for suggestions and for the documentation. */
export const functionNames: readonly string[] = [
  ...Object.keys(scalarFunctions),
  ...Object.keys(aggregateFunctions),
  ...Object.keys(windowFunctions),
  ...setFunctionNames,
].sort();
