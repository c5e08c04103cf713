import type { ColumnDefinition, FromItem } from '../ast.ts';
import { columnOf, literal, some } from '../build.ts';
import { jsonOperator } from '../functions/json/json.ts';
import { definedRows } from '../functions/json/json-rows.ts';
import { findSetRelation } from '../functions/set-returning.ts';
import { type Column, type Expr, outputName, type SelectIr } from '../ir.ts';
import { sqlError, unsupported } from '../sql-error.ts';
import { int8, type SqlType, text } from '../types.ts';
import type { ResolvedRelation } from './relations.ts';
import type { FromContext, ResolvedFrom } from './resolved-from.ts';
import { emptyFrom, Scope } from './scope.ts';
import { scopeColumns } from './scope-columns.ts';
import { castTo } from './type-names.ts';

/**
 * A function that gives rows, as a relation: `generate_series`, `unnest`, …. One that takes columns of the
 * relations to its left gives rows for each of theirs (LATERAL), and contains them.
 */
export function functionRelation(
  item: Extract<FromItem, { kind: 'function' }>,
  left: ResolvedFrom | undefined,
  context: FromContext,
): ResolvedRelation {
  const { call, ordinality, definitions } = item;
  const definition = definitions.length > 0 ? definedRows(call.name) : findSetRelation(call.name);
  if (definition === undefined && definitions.length > 0) {
    throw unsupported(`A list of column definitions for ${call.name}`, call.at);
  }
  if (definitions.length === 0 && definedRows(call.name) !== undefined) {
    throw sqlError('sql_syntax', `${call.name} needs a list of column definitions`, call.at);
  }
  if (definition === undefined || call.over !== undefined || call.filter !== undefined || call.distinct) {
    throw sqlError(
      'sql_unknown_function',
      `function ${call.name} does not give rows, or is not allowed in FROM`,
      call.at,
    );
  }
  const scope = new Scope(left?.scope ?? emptyFrom, context.parent, false);
  const inner = { ...context, scope, clause: 'FROM', allowAggregates: false, allowWindows: false };
  const args = call.args.map((arg) => context.resolve(arg, inner));
  const given = definition(args, { name: call.name, at: call.at });
  const arrays = given.map(({ array }) => array);
  const name = item.alias?.name ?? call.name;
  const types: readonly SqlType[] = [...arrays.map(elementType), ...(ordinality ? [int8] : [])];
  const labels = [...given.map((each) => each.name ?? name), 'ordinality'];
  const lateral = left !== undefined && arrays.some((array) => some(array, (each) => each.kind === 'column'));
  const alias = context.env.alias();
  const columns = types.map(
    (type, index): Column => ({
      ...columnOf(alias, outputName(index), type, labels[index] ?? name),
      unnested: lateral,
    }),
  );
  const [value] = columns;
  const unnest = { kind: 'unnest' as const, arrays, ordinality, outer: false };
  const relation = {
    name,
    columns: scopeColumns(
      value === undefined || definitions.length === 0
        ? columns.map((column) => ({ name: column.label, expr: () => column }))
        : definitions.map((each) => ({ name: each.name, expr: () => definedColumn(value, each) })),
    ),
    otherColumn: undefined,
    ...(value !== undefined && columns.length === 1 && definitions.length === 0
      ? { value: () => value }
      : {}),
  };
  const [counted] = given;
  if (counted?.series !== undefined)
    return { ir: { kind: 'series', alias, series: counted.series, ordinality }, relation };
  if (lateral) return { ir: { ...unnest, alias, input: left.ir }, relation };
  const source = context.env.alias();
  const query: SelectIr = {
    kind: 'select',
    columns: columns.map(({ label, type }) => ({ name: label, type })),
    distinct: false,
    distinctOn: [],
    items: columns.map((column) => ({ ...column, relation: source, unnested: true })),
    from: { ...unnest, alias: source, input: undefined },
    where: undefined,
    groupingSets: [],
    having: undefined,
    orderBy: [],
    limit: undefined,
    offset: undefined,
  };
  return { ir: { kind: 'derived', alias, query }, relation };
}

/** A member of an object as a value of the type that the query says. */
function definedColumn(value: Column, { name, type }: ColumnDefinition): Expr {
  const isJson = type.name === 'json' || type.name === 'jsonb';
  if (type.array) throw unsupported(`A column of type ${type.name}[] of JSON`, type.at);
  const site = { name: isJson ? '->' : '->>', at: type.at };
  const member = jsonOperator(site.name, value, literal(text, name), site);
  if (member === undefined) throw new Error('BUG: the rows are JSON');
  return castTo(member, type);
}

function elementType({ type }: Expr): SqlType {
  if (type.name === 'array') return type.element;
  throw new Error(`BUG: ${type.name} has no rows`);
}
