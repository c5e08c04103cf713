import * as fc from 'fast-check';

/** Random expressions over the fixture `app`, typed as PostgreSQL types them, as SQL text. */
type Expressions = {
  readonly int: string;
  readonly numeric: string;
  readonly float: string;
  readonly text: string;
  readonly bool: string;
  readonly time: string;
};

const operators = (...names: readonly string[]) => fc.constantFrom(...names);

export const { int, numeric, float, text, bool, time } = fc.letrec<Expressions>((tie) => {
  const binary = (left: fc.Arbitrary<string>, names: fc.Arbitrary<string>, right: fc.Arbitrary<string>) =>
    fc.tuple(left, names, right).map(([a, operator, b]) => `(${a} ${operator} ${b})`);
  const call = (name: string, ...args: readonly fc.Arbitrary<string>[]) =>
    fc.tuple(...args).map((each) => `${name}(${each.join(', ')})`);
  const conditional = (branch: fc.Arbitrary<string>) =>
    fc
      .tuple(tie('bool'), branch, branch)
      .map(([when, yes, no]) => `(case when ${when} then ${yes} else ${no} end)`);
  const number = fc.oneof(tie('int'), tie('numeric'), tie('float'));
  const nullable = (type: string) => fc.constant(`null::${type}`);
  const pick = (depthSize: fc.DepthSize, ...choices: readonly fc.Arbitrary<string>[]) =>
    fc.oneof({ depthSize, withCrossShrink: true, maxDepth: 4 }, ...choices);

  return {
    int: pick(
      'small',
      fc.integer({ min: -50, max: 50 }).map((value) => `(${value})`),
      nullable('int'),
      fc.constant('id::int'),
      fc.constant('status::int'),
      binary(tie('int'), operators('+', '-', '*', '/', '%', '&', '|', '#'), tie('int')),
      call('length', tie('text')),
      call('coalesce', tie('int'), tie('int')),
      call('nullif', tie('int'), tie('int')),
      call('greatest', tie('int'), tie('int')),
      call('abs', tie('int')),
      conditional(tie('int')),
      call(
        'position',
        fc.tuple(tie('text'), tie('text')).map(([a, b]) => `${a} in ${b}`),
      ),
    ),
    numeric: pick(
      'small',
      fc
        .tuple(fc.integer({ min: -99, max: 99 }), fc.integer({ min: 0, max: 99 }))
        .map(([a, b]) => `(${a}.${b})`),
      nullable('numeric'),
      fc.constant('ms::numeric(10,2)'),
      binary(tie('numeric'), operators('+', '-', '*'), fc.oneof(tie('int'), tie('numeric'))),
      binary(tie('int'), operators('/'), tie('numeric')),
      binary(tie('numeric'), operators('%'), fc.constantFrom('2', '0.7', '(-1.25)', '3.001')),
      fc
        .tuple(tie('numeric'), fc.integer({ min: 0, max: 3 }))
        .map(([value, digits]) => `round(${value}, ${digits})`),
      call('abs', tie('numeric')),
      call('floor', tie('numeric')),
      call('ceil', tie('numeric')),
      call('trunc', tie('numeric')),
      conditional(tie('numeric')),
    ),
    float: pick(
      'small',
      fc.constantFrom('ms', 'bytes', 'status', 'id', '0.5::float8', '(-2)::float8', 'null::float8'),
      // At the ends of the doubles; of a column, since constants are computed beforehand, in
      // branches never taken too.
      fc.constantFrom('(id * 1e200)', '(ms * 1e-200)'),
      binary(tie('float'), operators('+', '-', '*', '/'), number),
      call('sqrt', call('abs', tie('float'))),
      call('round', tie('float')),
      call('floor', tie('float')),
      call('least', tie('float'), number),
      call('coalesce', tie('float'), number),
      conditional(tie('float')),
    ),
    text: pick(
      'small',
      fc.constantFrom(
        'level',
        'service',
        'message',
        "''",
        "'a%b_c'",
        "'it''s'",
        "'\\'",
        "'ÄÖ'",
        'null::text',
      ),
      binary(tie('text'), operators('||'), fc.oneof(tie('text'), tie('int'))),
      call('upper', tie('text')),
      call('lower', tie('text')),
      call('trim', tie('text')),
      call('reverse', tie('text')),
      call('replace', tie('text'), tie('text'), tie('text')),
      call('concat', tie('text'), tie('int'), tie('bool')),
      fc.tuple(tie('text'), tie('int')).map(([a, n]) => `left(${a}, ${n})`),
      fc.tuple(tie('text'), tie('int')).map(([a, n]) => `right(${a}, ${n})`),
      fc
        .tuple(tie('text'), tie('int'), fc.nat(9))
        .map(([a, from, count]) => `substring(${a} from ${from} for ${count})`),
      fc.tuple(tie('int')).map(([value]) => `${value}::text`),
      fc.tuple(tie('bool')).map(([value]) => `${value}::text`),
      call('coalesce', tie('text'), tie('text')),
      conditional(tie('text')),
    ),
    bool: pick(
      'small',
      fc.constantFrom('ok', 'true', 'false', 'null::bool'),
      binary(number, operators('=', '<>', '<', '<=', '>', '>='), number),
      binary(tie('text'), operators('=', '<>', '<', '>'), tie('text')),
      binary(
        tie('text'),
        operators('like', 'not ilike'),
        fc.constantFrom("'%a%'", "'_n%'", "'%\\\\%'", "''"),
      ),
      binary(tie('time'), operators('=', '<', '>='), tie('time')),
      binary(tie('bool'), operators('and', 'or', '=', 'is distinct from'), tie('bool')),
      binary(number, operators('is distinct from', 'is not distinct from'), number),
      fc.tuple(tie('bool')).map(([value]) => `(not ${value})`),
      fc
        .tuple(tie('bool'), operators('is true', 'is not true', 'is not false', 'is unknown'))
        .map((each) => `(${each.join(' ')})`),
      fc
        .tuple(fc.oneof(number, tie('text')), operators('is null', 'is not null'))
        .map((each) => `(${each.join(' ')})`),
      fc
        .tuple(tie('int'), operators('in', 'not in'), tie('int'), tie('int'))
        .map(([a, name, b, c]) => `(${a} ${name} (${b}, ${c}))`),
      fc
        .tuple(number, operators('between', 'not between', 'between symmetric'), number, number)
        .map(([a, name, b, c]) => `(${a} ${name} ${b} and ${c})`),
      conditional(tie('bool')),
    ),
    time: pick(
      'small',
      fc.constantFrom('p_timestamp', "timestamptz '2024-03-01 10:00'", 'null::timestamptz'),
      binary(
        tie('time'),
        operators('+', '-'),
        operators("interval '90 minutes'", "interval '1 month'", "interval '2 days 01:00'"),
      ),
      fc
        .tuple(operators('second', 'hour', 'day', 'week', 'month', 'year'), tie('time'))
        .map(([unit, value]) => `date_trunc('${unit}', ${value})`),
      call('coalesce', tie('time'), tie('time')),
      conditional(tie('time')),
    ),
  };
});

/** Any expression. */
export const anyExpression = fc.oneof(int, numeric, float, text, bool, time);
