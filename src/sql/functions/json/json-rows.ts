import { apply } from '../../build.ts';
import { raiseIf } from '../../syntax/raise.ts';
import { arrayOf, jsonb, json as jsonType, type SqlType, text } from '../../types.ts';
import { checkCount, type SetRelation, type SpecialForm } from '../definition.ts';
import { asText, jsonArgument, typeOf } from './json.ts';
import { itemsOf, membersOf, stringValue } from './json-parts.ts';
import { jsonPathRows } from './json-path.ts';
import { typedNull } from './json-unsorted.ts';

const same = (sql: string): string => sql;

/** PostgreSQL refuses what is of another kind, and has no rows of NULL. */
const ofKind = (a: string, kind: 'Array' | 'Object', empty: string): string => {
  const isOther = raiseIf(`isNotNull(${a}) AND ${typeOf(a)} != '${kind}'`, 'jsonParameter');
  return `concat(ifNull(${a}, '${empty}'), substring('', 1 + ${isOther}))`;
};

const rowsOfArray =
  (finish: (sql: string) => string, type: SqlType): SpecialForm =>
  (args, site) => {
    checkCount(args, 1, 1, site);
    const items = (a: string): string =>
      `[arrayMap(item -> ${finish('item')}, ${itemsOf(ofKind(a, 'Array', '[]'))})]`;
    return apply(site.name, arrayOf(type), items, typedNull(jsonArgument(args, site)));
  };

const keys: SpecialForm = (args, site) => {
  checkCount(args, 1, 1, site);
  return apply(
    site.name,
    arrayOf(text),
    (a) => `[arrayMap(m -> ${stringValue('tupleElement(m, 1)')}, ${membersOf(ofKind(a, 'Object', '{}'))})]`,
    typedNull(jsonArgument(args, site)),
  );
};

const members =
  (finish: (sql: string) => string, type: SqlType): SetRelation =>
  (args, site) => {
    checkCount(args, 1, 1, site);
    const json = typedNull(jsonArgument(args, site));
    const part = (place: 1 | 2, form: (sql: string) => string) => (a: string) =>
      `[arrayMap(item -> ${form(`tupleElement(item, ${place})`)}, ${membersOf(ofKind(a, 'Object', '{}'))})]`;
    return [
      { name: 'key', array: apply('json keys', arrayOf(text), part(1, stringValue), json) },
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
  jsonb_path_query: jsonPathRows,
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

/** Each object is a row whose columns the query names. */
const objects =
  (isOne: boolean): SetRelation =>
  (args, site) => {
    checkCount(args, 1, 1, site);
    const json = typedNull(jsonArgument(args, site));
    const checked = (item: string): string =>
      `concat(${item}, substring('', 1 + ${raiseIf(`NOT startsWith(trimLeft(${item}), '{')`, 'jsonParameter')}))`;
    const items = (a: string): string =>
      `[arrayMap(item -> ${checked('item')}, ${itemsOf(ofKind(a, 'Array', '[]'))})]`;
    const one = (a: string): string => `[[if(isNull(${a}), '{}', ${checked(`ifNull(${a}, '{}')`)})]]`;
    const type = site.name.startsWith('jsonb_') ? jsonb : jsonType;
    return [{ array: apply(site.name, arrayOf(type), isOne ? one : items, json) }];
  };

const defined: Readonly<Record<string, SetRelation>> = {
  jsonb_to_recordset: objects(false),
  json_to_recordset: objects(false),
  jsonb_to_record: objects(true),
  json_to_record: objects(true),
};

/** Functions that need a list of column definitions; undefined for others. */
export const definedRows = (name: string): SetRelation | undefined =>
  Object.hasOwn(defined, name) ? defined[name] : undefined;

export const definedRowNames: readonly string[] = Object.keys(defined);
