import * as fc from 'fast-check';
import { bool, int, text, time } from './expressions.ts';
import { one, written } from './written.ts';

/** Random expressions over the fixture `app` that go through arrays, JSON values and intervals. */
type Containers = {
  readonly ints: string;
  readonly texts: string;
  readonly json: string;
  readonly span: string;
};

const documents = [
  '{"a":1,"b":{"c":[1,2,"x"],"d":null},"t":"é \\"q\\"","n":null,"ok":true}',
  '[10,"20",[1,{"a":5}],null,2.5]',
  '{"a":"12","b":[{"a":1},{"a":2}],"":0}',
  '"text"',
  '7',
  'null',
  '[]',
  '{}',
].map((document) => `'${document}'::jsonb`);
const steps = one("'a'", "'b'", "'c'", "'t'", "'n'", "''", '0', '1', '2', '-1', '9');
const paths = one("'{a}'", "'{b,c,2}'", "'{b,0,a}'", "'{2,1,a}'", "'{n}'", "'{b,-1}'", "'{}'");

const { ints, texts, json, span } = fc.letrec<Containers>((tie) => {
  const pick = (...choices: readonly fc.Arbitrary<string>[]) =>
    fc.oneof({ depthSize: 'small', withCrossShrink: true, maxDepth: 3 }, ...choices);
  const branch = (value: fc.Arbitrary<string>) =>
    written`(case when ${bool} then ${value} else ${value} end)`;
  return {
    ints: pick(
      one("'{1,2,NULL,3}'::int[]", 'array[]::int[]', 'null::int[]', 'array[id::int, 7, null, status::int]'),
      written`array[${int}, ${int}]`,
      written`(${tie('ints')} || ${tie('ints')})`,
      written`(${tie('ints')} || ${int})`,
      written`array_append(${tie('ints')}, ${int})`,
      written`array_prepend(${int}, ${tie('ints')})`,
      written`array_remove(${tie('ints')}, ${int})`,
      written`coalesce(${tie('ints')}, ${tie('ints')})`,
      branch(tie('ints')),
    ),
    texts: pick(
      one(`'{a,"b c",NULL,""}'::text[]`, 'array[]::text[]', 'null::text[]', 'array[level, service]'),
      written`array[${text}, ${text}]`,
      written`string_to_array(${text}, ${one("','", "' '", "'a'")})`,
      written`regexp_split_to_array(${text}, ${one("'[ ,]+'", "'a|e'")})`,
      written`(${tie('texts')} || ${tie('texts')})`,
      written`array_remove(${tie('texts')}, ${text})`,
      branch(tie('texts')),
    ),
    json: pick(
      fc.constantFrom(...documents, 'null::jsonb'),
      written`(${tie('json')} -> ${steps})`,
      written`(${tie('json')} #> ${paths})`,
      branch(tie('json')),
    ),
    span: pick(
      one("interval '90 minutes'", "interval '-00:00:01.5'", "interval '3 days'", 'null::interval'),
      written`(${time} - ${time})`,
      written`(${tie('span')} ${one('+', '-')} ${tie('span')})`,
      written`(${tie('span')} * ${one('2', '(-3)', '0.5', 'id::int')})`,
      written`(-${tie('span')})`,
      written`coalesce(${tie('span')}, ${tie('span')})`,
      branch(tie('span')),
    ),
  };
});

const comparisons = one('=', '<>', '<', '<=', '>', '>=');
const sets = one('=', '<>', '@>', '<@', '&&');

/** Any value that can be shown, made of an array, a JSON value or an interval. */
export const anyOfContainer = fc.oneof(
  ints,
  texts,
  written`(${ints})[${one('1', '2', '5', '0', '-1', 'id::int')}]`,
  written`(${texts})[${one('1', '2', '9')}]`,
  written`array_length(${fc.oneof(ints, texts)}, 1)`,
  written`cardinality(${fc.oneof(ints, texts)})`,
  written`array_position(${ints}, ${int})`,
  written`array_to_string(${ints}, ',', '*')`,
  written`array_to_string(${texts}, '; ')`,
  written`array_to_string(array[${bool}, ${bool}], ',', '*')`,
  written`(${ints} ${one('is distinct from', 'is not distinct from')} ${ints})`,
  written`${one('json', 'jsonb')}_build_array(${int}, ${text}, ${bool}, ${time}, ${ints}, ${texts})`,
  written`${one('json', 'jsonb')}_build_object('b', ${text}, 'a', ${int}, 'ab', ${bool}, 'b', ${texts})`,
  written`${one('to_json', 'to_jsonb')}(${fc.oneof(int, ints, texts, bool, time)})`,
  written`(${ints} ${sets} ${ints})`,
  written`(${texts} ${sets} ${texts})`,
  written`(${int} ${comparisons} ${one('any', 'all')}(${ints}))`,
  written`(${text} ${one('=', '<>', '<')} ${one('any', 'all')}(${texts}))`,
  // No pattern ends with a backslash: PostgreSQL complains of that only where it compares so far.
  written`(${text} like ${one('any', 'all')}(array[${text} || '%', '_' || ${text} || '_']))`,
  written`(${json} ->> ${steps})`,
  written`(${json} #>> ${paths})`,
  written`(${json} ${one('?')} ${one("'a'", "'b'", "'t'", "'text'", "''", "'20'")})`,
  written`(${json} @> ${fc.constantFrom(...documents, `'{"b":{"c":[2]}}'::jsonb`, `'[10]'::jsonb`)})`,
  written`jsonb_typeof(${json})`,
  written`(${json} is null)`,
  span,
  written`extract(epoch from ${span})`,
  written`(${span} ${comparisons} ${span})`,
  written`(${time} ${one('+', '-')} ${span})`,
);
