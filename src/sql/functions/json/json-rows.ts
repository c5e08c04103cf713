import { apply } from '../../build.ts';
import { arrayOf, jsonb, json as jsonType, type SqlType, text } from '../../types.ts';
import { checkCount, type SetRelation, type SpecialForm } from '../definition.ts';
import { asText, jsonArgument, typeOf } from './json.ts';

const same = (sql: string): string => sql;

/** PostgreSQL refuses what is of another kind, and has no rows of NULL. */
const ofKind = (a: string, kind: 'Array' | 'Object'): string => {
  // The conversion of what is no number raises the error, of constants too.
  const place = `toUInt8(if(isNotNull(${a}) AND ${typeOf(a)} != '${kind}', 'another kind of JSON', '1'))`;
  return `concat(ifNull(${a}, ''), substring('', ${place}))`;
};

const rowsOfArray =
  (finish: (sql: string) => string, type: SqlType): SpecialForm =>
  (args, site) => {
    checkCount(args, 1, 1, site);
    const items = (a: string): string =>
      `[arrayMap(item -> ${finish('item')}, JSONExtractArrayRaw(${ofKind(a, 'Array')}))]`;
    return apply(site.name, arrayOf(type), items, jsonArgument(args, site));
  };

const keys: SpecialForm = (args, site) => {
  checkCount(args, 1, 1, site);
  return apply(
    site.name,
    arrayOf(text),
    (a) => `[JSONExtractKeys(${ofKind(a, 'Object')})]`,
    jsonArgument(args, site),
  );
};

const members =
  (finish: (sql: string) => string, type: SqlType): SetRelation =>
  (args, site) => {
    checkCount(args, 1, 1, site);
    const json = jsonArgument(args, site);
    const part = (place: 1 | 2, form: (sql: string) => string) => (a: string) =>
      `[arrayMap(item -> ${form(`tupleElement(item, ${place})`)}, JSONExtractKeysAndValuesRaw(${ofKind(a, 'Object')}))]`;
    return [
      { name: 'key', array: apply('json keys', arrayOf(text), part(1, same), json) },
      { name: 'value', array: apply(site.name, arrayOf(type), part(2, finish), json) },
    ];
  };

const elements = (type: SqlType) => rowsOfArray(same, type);
const elementTexts = rowsOfArray(asText, text);

/** Functions that give a row for each part of a JSON value. */
export const jsonSetFunctions: Readonly<Record<string, SpecialForm>> = {
  jsonb_array_elements: elements(jsonb),
  json_array_elements: elements(jsonType),
  jsonb_array_elements_text: elementTexts,
  json_array_elements_text: elementTexts,
  jsonb_object_keys: keys,
  json_object_keys: keys,
};

const named =
  (name: string, form: SpecialForm): SetRelation =>
  (args, site) => [{ name, array: form(args, site) }];

/** Those whose columns have names, which differ from that of the function. */
export const jsonSetRelations: Readonly<Record<string, SetRelation>> = {
  jsonb_array_elements: named('value', elements(jsonb)),
  json_array_elements: named('value', elements(jsonType)),
  jsonb_array_elements_text: named('value', elementTexts),
  json_array_elements_text: named('value', elementTexts),
  jsonb_each: members(same, jsonb),
  json_each: members(same, jsonType),
  jsonb_each_text: members(asText, text),
  json_each_text: members(asText, text),
};
