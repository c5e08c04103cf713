import * as fc from 'fast-check';
import { one, written } from '../written.ts';

/** JSON: access, containment, functions, rows of elements, and building. */
const documents = [
  '{}',
  '[]',
  '{"a": 1, "b": "x", "c": null}',
  '{"a": {"b": {"c": [1, 2, {"d": "deep"}]}}}',
  '[1, "two", null, true, [3], {"k": "v"}]',
  '{"a": [1, 2, 3], "b": [], "c": {}}',
  '{"a": 1.50, "b": -0.0, "c": 1e3, "d": 12345678901234567890}',
  '"text"',
  '7',
  'null',
  'true',
  '{"a": "1", "1": "one", "": "empty", "é": "ü", "a b": true}',
  '[{"a": 1}, {"a": 2, "b": null}, {"b": 3}]',
  '{"x": "q\\"uote", "n": "line\\nbreak", "u": "\\u00e9"}',
  '{"bb": 2, "a": 1, "ccc": 3}',
  '[[1, 2], [3, [4]]]',
  '{"a": false, "b": 0, "c": ""}',
] as const;
const document = one(...documents.map((text) => `'${text}'`));
const type = one('json', 'jsonb', 'jsonb');
const value = written`${document}::${type}`;
const binaryValue = written`${document}::jsonb`;
const key = one(
  "'a'",
  "'b'",
  "'c'",
  "'1'",
  "''",
  "'z'",
  "'é'",
  '0',
  '1',
  '-1',
  '5',
  "'a b'",
  'null::text',
  '-7',
  "'d'",
);
const path = one(
  "'{a}'",
  "'{a,b}'",
  "'{a,b,c,2,d}'",
  "'{0}'",
  "'{-1}'",
  "'{}'",
  "'{a,0}'",
  "'{0,a}'",
  "'{z,y}'",
  "'{a,-1}'",
  "'{1,1,0}'",
  '\'{"a b"}\'',
  "'{c}'",
  "array['a', 'b']",
  "'{5,k}'",
);
const contained = one(
  "'{}'",
  "'[]'",
  '\'{"a":1}\'',
  "'1'",
  "'[1]'",
  '\'{"a":{"b":{}}}\'',
  '\'[{"a":1}]\'',
  'null',
  '\'"text"\'',
  "'[3]'",
  '\'{"a":1.50}\'',
  '\'{"c":null}\'',
  "'7'",
);

const access = (json: fc.Arbitrary<string>): fc.Arbitrary<string> =>
  fc.oneof(
    written`${json} ${one('->', '->>')} ${key}`,
    written`${json} -> ${key} ${one('->', '->>')} ${key}`,
    written`${json} ${one('#>', '#>>')} ${path}`,
    written`(${json} ->> ${key}) is null`,
    written`(${json} -> ${key}) is null`,
    written`coalesce(${json} ->> ${key}, 'none')`,
    written`length(${json} ->> ${key})`,
  );
const anyFunction = fc
  .tuple(
    one('json', 'jsonb'),
    document,
    one(
      'typeof(D)',
      'array_length(D)',
      "extract_path(D, 'a')",
      "extract_path_text(D, 'a', 'b')",
      "extract_path_text(D, '0')",
      'strip_nulls(D)',
      'array_elements(D)',
      'array_elements_text(D)',
      'object_keys(D)',
      'each(D)',
      'each_text(D)',
    ),
    fc.boolean(),
  )
  .map(([name, text, call, inRows]) => {
    const made = `${name}_${call}`;
    if (/each\(|each_text/.test(made)) return `select * from ${made.replace('D', `${text}::${name}`)}`;
    return inRows && !made.includes('elements') && !made.includes('keys')
      ? `select ${made.replace('D', 'j')} as v from (values (${text}::${name}), (null)) t(j)`
      : `select ${made.replace('D', `${text}::${name}`)} as v`;
  });
const scalar = one(
  '1',
  "'x'",
  'null',
  'true',
  '1.5',
  "'q\"'",
  'id',
  'level',
  'ok',
  'ms',
  'service',
  'p_timestamp',
  "date '2024-01-01'",
  'array[1,2]',
  "array['a',null]",
  '\'{"k":[1]}\'::jsonb',
  '\'{"k": [1]}\'::json',
  '1e20::float8',
  "'NaN'::float8",
  'id::int',
  'null::int',
  'message',
  "interval '1 day'",
  '1::int8',
  "timestamp '2024-01-01 10:00:00.5'",
  "'é😀'",
  '-0.0::float8',
  '1.50::numeric(10,2)',
);
const built = written`select ${fc.oneof(
  written`${one('json', 'jsonb')}_build_object('a', ${scalar}, 'b', ${scalar})`,
  written`${one('json', 'jsonb')}_build_array(${scalar}, ${scalar})`,
  written`${one('to_json', 'to_jsonb')}(${scalar.filter((text) => !/^(?:'x'|'q"'|null|'é😀')$/.test(text))})`,
  written`${one('json', 'jsonb')}_build_object(${one("'k'", 'level', 'id', "''")}, ${scalar})`,
  written`jsonb_build_object('a', ${scalar}) ${one('->', '->>')} 'a'`,
)} as v from app where id < 4`;
const aggregated = written`select ${fc.oneof(
  written`${one('json_agg', 'jsonb_agg')}(${one('id', 'level', 'ok', 'service', 'ms')} order by id${one('', ' desc')})`,
  written`${one('json_agg', 'jsonb_agg')}(${one('id', 'level', 'service')} order by id) filter (where ${one('id > 2', 'false', 'ok')})`,
  written`${one('json_object_agg', 'jsonb_object_agg')}(${one('id', 'level')}, ${one('id', 'service', 'ms')} order by id)`,
)} as v from app where id < ${one('5', '0', '1')}`;
const changed = fc.oneof(
  written`${binaryValue} || ${binaryValue}`,
  written`${binaryValue} - ${one("'a'", '0', '-1', "'z'", "array['a','b']", '5')}`,
  written`${binaryValue} #- ${path}`,
  written`jsonb_set(${binaryValue}, ${path}, '9')`,
  written`jsonb_set(${binaryValue}, ${path}, '{"n":1}', false)`,
  written`jsonb_insert(${binaryValue}, ${path}, '9')`,
  written`jsonb_pretty(${binaryValue})`,
  written`${binaryValue} ${one('=', '<>', '<', '>=')} ${binaryValue}`,
);
const tested = fc.oneof(
  written`${binaryValue} ${one('@>', '<@')} ${contained}`,
  written`${binaryValue} ${one('@>', '<@')} ${contained}`,
  written`${binaryValue} ? ${one("'a'", "'z'", "'text'", "''", "'1'")}`,
  written`${binaryValue} ${one('?|', '?&')} ${one("array['a','b']", "array['z']", "'{}'", "array['a',null]")}`,
);
const cast = written`(${binaryValue} ${one('->', '->>')} ${one("'a'", "'b'", '0')})::${one('int', 'text', 'float8', 'bool', 'numeric', 'jsonb', 'json')}`;

export const jsonStatement: fc.Arbitrary<string> = fc.oneof(
  written`select ${access(value)} as v`,
  written`select ${access(one('j'))} as v from (values (${document}::jsonb), (${document}), (null)) t(j)`,
  written`select ${access(one('j'))} as v from (values (${document}::json), (${document}), (null)) t(j)`,
  written`select ${value} as v`,
  written`select ${value}::${one('text', 'json', 'jsonb')} as v`,
  anyFunction,
  anyFunction,
  built,
  built,
  aggregated,
  written`select ${tested} as v`,
  written`select j ${one('@>', '<@')} ${contained} as v from (values (${document}::jsonb), (${document}), (null)) t(j)`,
  written`select ${changed} as v`,
  written`select ${cast} as v`,
  written`select j ->> ${one("'a'", "'b'")} as k, count(*) from (values (${document}::jsonb), (${document}), (${document})) t(j) group by 1`,
  written`select e ${one('->', '->>')} ${one("'a'", "'b'", '0')} as v from jsonb_array_elements(${one(...documents.filter((text) => text.startsWith('[')).map((text) => `'${text}'`))}) e`,
);
