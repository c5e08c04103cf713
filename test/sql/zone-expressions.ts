import * as fc from 'fast-check';
import { namedZone } from '../../src/lib/time-zone.ts';
import { settledZones } from './time-zones.ts';
import { one, written } from './written.ts';

/**
 * Random expressions of times in a random time zone, near to changes of its clocks and far from them: what
 * `time-expressions.ts` is for UTC.
 */
const moreZones = [
  'America/Los_Angeles',
  'Europe/London',
  'Europe/Dublin', // is ahead of its standard time in winter
  'Asia/Tehran',
  'Asia/Kathmandu',
  'Asia/Gaza',
  'Asia/Pyongyang',
  'Africa/Cairo',
  'America/Havana',
  'America/Caracas',
  'Europe/Moscow',
  'Pacific/Chatham',
  'Pacific/Kwajalein',
  'Antarctica/Troll',
  '<+13:45>-13:45',
];

const twoDays = 2 * 86_400;
const offsets = fc.oneof(
  fc.constantFrom(0, -1, 1, 1800, -1800, 3599, 3600, -3600, 5400, 7200, 86_400, -86_400),
  fc.integer({ min: -twoDays, max: twoDays }),
);
/** 1902 to 2150. */
const anySecond = fc.integer({ min: -2_145_000_000, max: 5_680_000_000 });
const fractions = one('', '', '', '.5', '.999999', '.000001');

/** Seconds since 1970 of a change, near to one, or anywhere; by UTC or by what the clocks show. */
function seconds(zone: string): fc.Arbitrary<number> {
  const changes = namedZone(zone)?.transitions.changes ?? [];
  const late = changes.filter(([at]) => at > -2_145_000_000);
  if (late.length === 0) return anySecond;
  const near = fc
    .tuple(fc.constantFrom(...late), offsets, fc.boolean())
    .map(([[at, ahead], offset, isLocal]) => at + offset + (isLocal ? ahead : 0));
  return fc.oneof({ arbitrary: near, weight: 5 }, { arbitrary: anySecond, weight: 1 });
}

const steps = one(
  "interval '1 day'",
  "interval '-1 day'",
  "interval '1 month'",
  "interval '-1 month'",
  "interval '1 year'",
  "interval '2 weeks 3 hours'",
  "interval '7 months -3 days 04:05:06.789'",
  "interval '1 day -90 minutes'",
  "interval '90 minutes'",
  "interval '-26 hours'",
  "interval '0.000001 seconds'",
  "3 * interval '1 day'",
  'make_interval(days => 2, hours => -3)',
  'make_interval(months => 1, days => -1)',
);
const units = one(
  'second',
  'minute',
  'hour',
  'day',
  'week',
  'month',
  'quarter',
  'year',
  'decade',
  'milliseconds',
);
const fields = one(
  ...[
    'year',
    'month',
    'day',
    'hour',
    'minute',
    'second',
    'dow',
    'doy',
    'week',
    'isoyear',
    'quarter',
    'epoch',
  ],
);
const zoneFields = one('timezone', 'timezone_hour', 'timezone_minute');
const formats = one(
  "'YYYY-MM-DD HH24:MI:SS.US'",
  "'FMDay, DD FMMonth YYYY'",
  "'IYYY-IW-ID Q DDD'",
  "'HH12:MI AM'",
);
const widths = one("'15 minutes'", "'7 hours 3 seconds'", "'1 day'");
const comparisons = one('=', '<>', '<', '<=', '>', '>=', 'is distinct from');

const text = (second: number): string => new Date(second * 1000).toISOString().slice(0, 19).replace('T', ' ');

type Times = { readonly zoned: string; readonly local: string; readonly day: string };

function expressions(zone: string): fc.Arbitrary<string> {
  const second = seconds(zone);
  const clock = fc.tuple(second, fractions).map(([at, fraction]) => `${text(at)}${fraction}`);
  const otherZones = one(...settledZones, ...moreZones.slice(0, 5)).map((name) => `'${name}'`);
  const named = otherZones.filter((name) => name.includes('/'));
  const { zoned, local, day } = fc.letrec<Times>((tie) => {
    const pick = (...choices: readonly fc.Arbitrary<string>[]) =>
      fc.oneof({ depthSize: 'small', withCrossShrink: true, maxDepth: 3 }, ...choices);
    const any = fc.oneof(tie('zoned'), tie('local'), tie('day'));
    return {
      zoned: pick(
        clock.map((each) => `timestamptz '${each}+00'`),
        clock.map((each) => `timestamptz '${each}'`),
        clock.map((each) => `('${each}' || '')::timestamptz`),
        written`${fc.oneof(tie('local'), tie('day'))}::timestamptz`,
        written`(${tie('local')} at time zone ${named})`,
        written`(${tie('zoned')} ${one('+', '-')} ${steps})`,
        written`date_trunc('${units}', ${tie('zoned')})`,
        written`date_trunc('${units}', ${tie('zoned')}, ${named})`,
        written`date_bin(${widths}, ${tie('zoned')}, ${tie('zoned')})`,
        written`greatest(${tie('zoned')}, ${any})`,
        written`coalesce(null, ${tie('zoned')}, ${tie('local')})`,
        clock.map((each) => `to_timestamp('${each}', 'YYYY-MM-DD HH24:MI:SS')`),
      ),
      local: pick(
        clock.map((each) => `timestamp '${each}'`),
        written`${tie('zoned')}::timestamp`,
        written`(${tie('zoned')} at time zone ${named})`,
        written`(${fc.oneof(tie('local'), tie('day'))} ${one('+', '-')} ${steps})`,
        written`date_trunc('${units}', ${tie('local')})`,
      ),
      day: pick(
        clock.map((each) => `date '${each.slice(0, 10)}'`),
        written`${fc.oneof(tie('zoned'), tie('local'))}::date`,
        written`(${tie('day')} ${one('+', '-')} ${one('1', '40', '366')})`,
      ),
    };
  });
  const any = fc.oneof(zoned, local, day);
  return fc.oneof(
    zoned,
    zoned,
    local,
    day,
    written`${any}::text`,
    written`extract(${fields} from ${any})`,
    written`extract(${zoneFields} from ${zoned})`,
    written`to_char(${fc.oneof(zoned, local)}, ${formats})`,
    written`(${any} ${comparisons} ${any})`,
    written`(${zoned} - ${any})`,
    written`(${local} - ${zoned})`,
    written`age(${any}, ${any})`,
    written`to_json(${any})`,
    written`concat(${any}, ' ', ${any})`,
    written`array[${zoned}, ${any}]`,
    written`((${any}, ${steps}) overlaps (${any}, ${any}))`,
    fc
      .tuple(second, one("'1 day'", "'2 days'", "'1 month'", "'6 hours'", "'-1 day'", "'30 minutes'"))
      .map(([at, step]) => {
        const [from, to] = [
          at,
          at +
            (step.includes('month') ? 190 : step.startsWith("'-") ? -6 : step.includes('day') ? 6 : 1) *
              86_400,
        ];
        return `(select array_agg(g order by g) from generate_series(timestamptz '${text(from)}', timestamptz '${text(to)}', interval ${step}) as g)`;
      }),
  );
}

/** A zone and an expression. */
export const zonedExpression: fc.Arbitrary<readonly [zone: string, expression: string]> = fc.oneof(
  ...[...settledZones, ...moreZones].map((zone) => fc.tuple(fc.constant(zone), expressions(zone))),
);
