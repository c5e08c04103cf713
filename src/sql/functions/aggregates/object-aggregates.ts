import { apply } from '../../build.ts';
import { convert, settle } from '../../coerce.ts';
import { unsupported } from '../../sql-error.ts';
import { json, jsonb, text } from '../../types.ts';
import { argument, checkCount } from '../definition.ts';
import { jsonString } from '../json/json-string.ts';
import { jsonOf, jsonWriter } from '../json/json-text.ts';
import { asRow } from '../rows.ts';
import { type AggregateDefinition, type AggregateForm, rejectOrderAndStar } from './aggregate-call.ts';
import { gathered } from './ordered-aggregates.ts';

const keyTypes: ReadonlySet<string> = new Set(['text', 'int2', 'int4', 'int8', 'float', 'mixed', 'unknown']);

/** In the order of `jsonb`, the last value of each key (`json-build.ts`). */
function keptByJsonb(pairs: string): string {
  const key = (pair: string): string => `tupleElement(${pair}, 1)`;
  const order = `arraySort((p, i) -> tuple(length(${key('p')}), ${key('p')}, i), q, arrayEnumerate(q))`;
  const isLast = `i = length(s) OR ${key('s[i + 1]')} != ${key('p')}`;
  const sorted = `arrayMap(q -> ${order}, [${pairs}])`;
  return `arrayMap(s -> arrayFilter((p, i) -> ${isLast}, s, arrayEnumerate(s)), ${sorted})[1]`;
}

/** `json_object_agg (key, value)`: an object of all rows; NULL of none. */
const objectAggregate =
  (binary: boolean): AggregateForm =>
  (call, site) => {
    rejectOrderAndStar(call, site);
    checkCount(call.args, 2, 2, site);
    if (call.distinct) throw unsupported(`DISTINCT in ${site.name}`, site.at);
    const given = argument(call.args, 0);
    if (!keyTypes.has(given.type.name)) throw unsupported(`${site.name} with such a key`, site.at);
    const key = convert(settle(given, site.at), text, site.at);
    const second = settle(argument(call.args, 1), site.at);
    const isRow = asRow(second) !== undefined;
    const value = isRow
      ? apply('json of a row', binary ? jsonb : json, (a) => a, jsonOf(second, binary, site))
      : second;
    if (value.type.name === 'interval') throw unsupported(`${site.name} of intervals`, site.at);
    const write = jsonWriter(value.type, binary, site.at);
    const pair = apply(
      'key and value',
      text,
      (k, v) => {
        const isNull = `toUInt8(if(isNull(${k}), 'a key must not be NULL', '0'))`;
        return `tuple(concat(ifNull(${k}, ''), if(${isNull} = 0, '', '')), ${write(v)})`;
      },
      key,
      value,
    );
    const [open, colon, close] = binary ? ['{', ': ', '}'] : ['{ ', ' : ', ' }'];
    const member = `concat(${jsonString('tupleElement(p, 1)')}, '${colon}', tupleElement(p, 2))`;
    const finish = (tuples: string): string => {
      const pairs = `arrayMap(t -> tupleElement(t, 1), ${tuples})`;
      const kept = binary ? keptByJsonb(pairs) : pairs;
      const joined = `concat('${open}', arrayStringConcat(arrayMap(p -> ${member}, list), ', '), '${close}')`;
      return `arrayMap(list -> if(empty(list), NULL, ${joined}), [${kept}])[1]`;
    };
    return gathered(site.name, binary ? jsonb : json, pair, call, site, finish);
  };

export const objectAggregates: Readonly<Record<string, AggregateDefinition>> = {
  json_object_agg: objectAggregate(false),
  jsonb_object_agg: objectAggregate(true),
};
