import { quoteString } from '../../../lib/quote.ts';
import { apply, literal } from '../../build.ts';
import { coerce, settle } from '../../coerce.ts';
import { exprKey } from '../../expr-key.ts';
import type { Expr, Sort } from '../../ir.ts';
import { sqlError, unsupported } from '../../sql-error.ts';
import { arrayOf, json, jsonb, type SqlType, text } from '../../types.ts';
import { argument, type CallSite, checkCount, constantText } from '../definition.ts';
import { orderKeyOf } from '../json/json-order.ts';
import { jsonOf, jsonWriter } from '../json/json-text.ts';
import { asRow } from '../rows.ts';
import {
  type AggregateCall,
  type AggregateDefinition,
  type AggregateForm,
  aggregate,
  rejectOrderAndStar,
} from './aggregate-call.ts';

/**
 * Aggregates whose result depends on the order of the rows. The store has no ORDER BY in an aggregate: the
 * values are gathered with their keys, as tuples, and sorted afterwards.
 */
export function gathered(
  name: string,
  type: SqlType,
  value: Expr,
  call: AggregateCall,
  site: CallSite,
  finish: (sorted: string) => string,
): Expr {
  if (call.distinct && call.orderBy.some((sort) => exprKey(sort.expr) !== exprKey(value))) {
    throw sqlError(
      'sql_bad_reference',
      'in an aggregate with DISTINCT, ORDER BY expressions must appear in argument list',
      site.at,
    );
  }
  // PostgreSQL sorts to find what is distinct, and leaves it sorted.
  const ascending: Sort = { expr: value, descending: false, nullsFirst: false };
  const sorts = call.distinct && call.orderBy.length === 0 ? [ascending] : call.orderBy;
  const keys = sorts.map((sort) =>
    sort.expr.type.name === 'jsonb' ? { ...sort, expr: orderKeyOf(sort.expr) } : sort,
  );
  if (call.distinct && value.type.name === 'jsonb')
    throw unsupported(`DISTINCT of jsonb in ${name}`, site.at);
  const collect = call.distinct ? 'groupUniqArray' : 'groupArray';
  return aggregate(
    `${name} ${sorts.map((sort) => `${sort.descending} ${sort.nullsFirst}`).join(' ')}`,
    type,
    (...values) => `${collect}(tuple(${values.join(', ')}))`,
    { ...call, distinct: false },
    [value, ...keys.map((sort) => sort.expr)],
    (tuples) => finish(sorts.length === 0 ? tuples : sortedTuples(tuples, keys)),
  );
}

/** By the keys behind the value, each made to sort in ascending order with its NULLs in place. */
export function sortedTuples(tuples: string, sorts: readonly Sort[]): string {
  const keys = sorts.flatMap((sort, index) => {
    const key = `tupleElement(t, ${index + 2})`;
    // NULL is an empty outer array.
    if (sort.expr.type.name === 'array' && !sort.descending) {
      return [`${sort.nullsFirst ? 'notEmpty' : 'empty'}(${key})`, key];
    }
    return [`${sort.nullsFirst ? 'isNotNull' : 'isNull'}(${key})`, sortKey(`assumeNotNull(${key})`, sort)];
  });
  return `arraySort(t -> tuple(${keys.join(', ')}), ${tuples})`;
}

function sortKey(key: string, { expr, descending }: Sort): string {
  if (!descending) return key;
  switch (expr.type.name) {
    case 'int2':
    case 'int4':
    case 'int8':
    case 'interval':
    case 'time':
      return `-toInt128(${key})`;
    case 'float':
    case 'numeric':
      return `-${key}`;
    case 'bool':
      return `-toInt8(${key})`;
    case 'date':
      return `-toInt32(${key})`;
    case 'timestamp':
    case 'timestamptz':
      return `-toUnixTimestamp64Micro(toDateTime64(${key}, 6, 'UTC'))`;
    case 'text':
      // The bytes, each with its sign turned, and an end that is greater than all of them.
      return `arrayPushBack(arrayMap(i -> -toInt16(ascii(substring(${key}, i, 1))), range(1, length(${key}) + 1)), 1)`;
    default:
      throw unsupported(`A descending order by ${expr.type.name} in an aggregate`);
  }
}

const arrayAggregate: AggregateForm = (call, site) => {
  rejectOrderAndStar(call, site);
  checkCount(call.args, 1, 1, site);
  const value = settle(argument(call.args, 0), site.at);
  if (value.type.name === 'array') throw unsupported('array_agg of arrays', site.at);
  // No rows give NULL, which is an outer array without the inner one.
  const finish = (sorted: string): string =>
    `arrayFilter(a -> notEmpty(a), [arrayMap(t -> tupleElement(t, 1), ${sorted})])`;
  return gathered('array_agg', arrayOf(value.type), value, call, site, finish);
};

const stringAggregate: AggregateForm = (call, site) => {
  rejectOrderAndStar(call, site);
  checkCount(call.args, 2, 2, site);
  const separator = literal(text, constantText(call.args[1], 'the separator', site));
  const value = argument(call.args, 0);
  if (!['text', 'unknown', 'mixed'].includes(value.type.name)) {
    throw sqlError('sql_unknown_function', `string_agg needs text; cast its argument`, site.at);
  }
  const words = coerce(value, text, site.at);
  const by = quoteString(String(separator.value));
  if (call.orderBy.length === 0 && !call.distinct) {
    // The engine's `groupConcat` forgets the separator behind texts without characters.
    const joined = `arrayMap(x -> if(empty(x), NULL, arrayStringConcat(x, ${by})), [`;
    return aggregate(
      `string_agg ${by}`,
      text,
      (a) => `groupArray(${a})`,
      call,
      [words],
      (a) => `${joined}${a}])[1]`,
    );
  }
  const finish = (sorted: string): string => {
    const present = `arrayFilter(t -> isNotNull(tupleElement(t, 1)), ${sorted})`;
    const joined = `arrayStringConcat(arrayMap(t -> assumeNotNull(tupleElement(t, 1)), x), ${by})`;
    return `arrayMap(x -> if(empty(x), NULL, ${joined}), [${present}])[1]`;
  };
  return gathered(`string_agg ${by}`, text, words, call, site, finish);
};

/** A JSON array of all values, of NULLs too; NULL of no rows. */
const jsonAggregate =
  (binary: boolean): AggregateForm =>
  (call, site) => {
    rejectOrderAndStar(call, site);
    checkCount(call.args, 1, 1, site);
    const given = settle(argument(call.args, 0), site.at);
    // PostgreSQL begins a line for each row.
    const isRow = asRow(given) !== undefined;
    const value = isRow
      ? apply('json of a row', binary ? jsonb : json, (a) => a, jsonOf(given, binary, site))
      : given;
    if (value.type.name === 'array' || value.type.name === 'interval') {
      throw unsupported(`${site.name} of ${value.type.name}s`, site.at);
    }
    const write = jsonWriter(value.type, binary, site.at);
    const finish = (sorted: string): string => {
      const items = `arrayMap(t -> ${write('tupleElement(t, 1)')}, list)`;
      const joined = `concat('[', arrayStringConcat(${items}, '${isRow && !binary ? ', \\n ' : ', '}'), ']')`;
      return `arrayMap(list -> if(empty(list), NULL, ${joined}), [${sorted}])[1]`;
    };
    return gathered(site.name, binary ? jsonb : json, value, call, site, finish);
  };

export const orderedAggregates: Readonly<Record<string, AggregateDefinition>> = {
  array_agg: arrayAggregate,
  string_agg: stringAggregate,
  json_agg: jsonAggregate(false),
  jsonb_agg: jsonAggregate(true),
};
