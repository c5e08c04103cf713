import * as fc from 'fast-check';
import { bool } from './expressions.ts';
import { one, written } from './written.ts';

/** Random expressions over the fixture `app` of text in many scripts. */
type Texts = { readonly words: string };

const samples = [
  'Strähne',
  'ÄÖÜ äöü',
  'ΣΊΣΥΦΟΣ σίσυφος',
  'I\u0307stanbul ı',
  'ŉ ǆ ﬁ ẞ',
  'e\u0301te\u0301',
  '👩\u200d🚀 x 😀',
  '日本語 テスト',
  "o''neill-smith_3abc",
  'tab\there\nline',
  'a\u00a0b\u2003c',
  '  two  spaces ',
  '100%_\\x',
  '',
  'ǅǈ ΐ',
  'Ⅷ ⅷ',
  '𐐀𐐨',
].map((each) => `'${each}'`);
const pieces = one("'a'", "'ä'", "'σ'", "'😀'", "' '", "'\u0301'", "'ö'", "''", "'ab'", "'本'", "'%'", "'_'");
const delimiters = one("' '", "'ö'", "', '", "'é'", "'\u0301'", "'😀'");
const small = one('0', '1', '2', '5', '-1', '-3', '30', 'id::int', 'null::int');
const sizes = one('0', '1', '3', '9', 'id::int');

const { words } = fc.letrec<Texts>((tie) => {
  const pick = (...choices: readonly fc.Arbitrary<string>[]) =>
    fc.oneof({ depthSize: 'small', withCrossShrink: true, maxDepth: 3 }, ...choices);
  const inner = tie('words');
  return {
    words: pick(
      one('message', 'level', 'null::text', ...samples),
      written`${one('upper', 'lower', 'reverse', 'trim', 'ltrim', 'rtrim', 'md5')}(${inner})`,
      written`(${inner} || ${inner})`,
      written`${one('left', 'right')}(${inner}, ${small})`,
      written`substring(${inner} from ${small})`,
      written`substring(${inner} from ${small} for ${sizes})`,
      written`replace(${inner}, ${pieces}, ${pieces})`,
      written`translate(${inner}, ${one("'äσ😀'", "'aß'", "' ı'")}, ${one("'x'", "'日本語'", "''")})`,
      written`${one('lpad', 'rpad')}(${inner}, ${small}, ${one("'ä'", "'😀x'", "' '")})`,
      written`split_part(${inner}, ${delimiters}, ${one('1', '2', '-1', '7')})`,
      written`concat_ws(${delimiters}, ${inner}, ${inner}, id::int)`,
      written`btrim(${inner}, ${one("' x'", "'Sae'")})`,
      written`array_to_string(string_to_array(${inner}, ${delimiters}), '|', '?')`,
      written`regexp_replace(${inner}, ${one("'[a-zä]'", "'\\s+'", "'\\w'", "'\\W+'", "'[[:upper:]]'", "'[[:alpha:]]+'", "'.'", "'[^a-z]'")}, ${one("'-'", "'<\\&>'")}, ${one("''", "'g'", "'gi'")})`,
      written`substring(${inner} from ${one("'[[:alpha:]]+'", "'\\S+'", "'(.)$'", "'\\d+'")})`,
      written`(case when ${bool} then ${inner} else ${inner} end)`,
    ),
  };
});

const patterns = one(
  "'%ß%'",
  "'_t%'",
  "'%\u0301%'",
  "'%😀'",
  "'Σ%'",
  "'%\\%\\_%'",
  "'____'",
  "'%É%'",
  "'%ı'",
  "'ǆ%'",
);
const regexes = one(
  "'^\\w+$'",
  "'ö'",
  "'σ'",
  "'^.{4}$'",
  "'[[:space:]]'",
  "'[à-ÿ]'",
  "'\\d'",
  "'^[[:upper:]]'",
  "'É'",
  "'k'",
);

/** Any value made of text. */
export const anyOfText = fc.oneof(
  words,
  written`${one('length', 'octet_length')}(${words})`,
  written`format('%s|%-9s|%12s|%L|%2$s', ${words}, ${words}, ${bool}, ${words})`,
  written`concat_ws(${words}, ${words}, ${words}, ${bool})`,
  written`to_json((${words})::text)`,
  written`position(${pieces} in ${words})`,
  written`strpos(${words}, ${words})`,
  written`starts_with(${words}, ${pieces})`,
  written`(${words} ${one('like', 'not like', 'ilike', 'not ilike')} ${patterns})`,
  written`(${words} ${one('~', '~*', '!~', '!~*')} ${regexes})`,
  written`(${words} ${one('=', '<>', '<', '>=', 'is distinct from')} ${words})`,
  written`regexp_count(${words}, ${one("'[[:alpha:]]'", "'\\s'", "'.'", "'ä'")})`,
  written`string_to_array(${words}, ${fc.oneof(delimiters, one("''", 'null'))})`,
  written`regexp_split_to_array(${words}, ${one("'\\s+'", "'[aeö]'")})`,
  written`regexp_match(${words}, ${one("'(\\w+) (\\w+)'", "'ö'", "'(.)(.)'")})`,
);
