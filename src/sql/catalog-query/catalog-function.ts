import type { Value } from '../system-catalog/catalog-value.ts';
import type { CompileContext, Compiled } from './catalog-scope.ts';

/** A call of a function: its arguments as they were given. */
export interface CallOf {
  readonly args: readonly Compiled[];
  readonly context: CompileContext;
  readonly at: number | undefined;
}

/** A function of queries of the catalog, which gives one value. */
export interface CatalogFunction {
  readonly type: string | ((types: readonly string[]) => string);
  /** Types of the arguments: text for those that are not here. `any` as it is. */
  readonly args: readonly string[];
  readonly optional?: number;
  /** Any number of arguments of any type may follow those of `args`. */
  readonly variadic?: boolean;
  /** Called with NULL, too. */
  readonly takesNulls?: boolean;
  readonly run: (values: readonly Value[], call: CallOf) => Value;
}

export type FunctionTable = Readonly<Record<string, CatalogFunction>>;

export const textOf = (value: Value | undefined): string => String(value ?? '');
export const numberOf = (value: Value | undefined): number => Number(value ?? 0);
export const listOf = (value: Value | undefined): readonly Value[] => (Array.isArray(value) ? value : []);

/** @param args types of its arguments, separated by blanks */
export const fn = (
  args: string,
  type: CatalogFunction['type'],
  run: CatalogFunction['run'],
  more: Pick<CatalogFunction, 'optional' | 'takesNulls' | 'variadic'> = {},
): CatalogFunction => ({ args: args === '' ? [] : args.split(' '), type, run, ...more });

/** Of what there is nothing of here: NULL. */
export const nothing = (args: string, optional = 0, type = 'text'): CatalogFunction =>
  fn(args, type, () => null, { optional });

export const always = (args: string, value: Value, type: string, optional = 0): CatalogFunction =>
  fn(args, type, () => value, { optional });
