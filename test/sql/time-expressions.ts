import * as fc from 'fast-check';
import { bool, int } from './expressions.ts';
import { one, written } from './written.ts';

/**
 * Random expressions over the fixture `app` of dates, timestamps with and without time zone, and their zones.
 */
type Times = {
  readonly zoned: string;
  readonly local: string;
  readonly day: string;
};

/** Around changes of clocks, ends of months and years, leap days, before 1970 and beyond 2038. */
const moments = [
  '2024-03-31 00:59:59.999999',
  '2024-03-31 01:30',
  '2024-03-31 02:30',
  '2024-10-27 00:30',
  '2024-10-27 02:30:00.5',
  '2024-03-10 02:15',
  '2024-11-03 01:45',
  '2024-02-29 12:00',
  '2023-12-31 23:59:59.999999',
  '2021-01-03 00:00',
  '2020-12-31 18:00',
  '1969-12-31 23:59:59',
  '1969-12-30 23:59:59.999999',
  '1967-12-31 22:59:59.5',
  '1950-06-15 04:05:06',
  '1901-05-06 07:08:09',
  '2000-02-29 00:00',
  '2100-03-01 00:00:00.000001',
  '2153-11-30 11:22:33',
];
const days = [
  '2024-02-29',
  '2024-01-31',
  '2023-12-31',
  '2021-01-03',
  '1969-12-31',
  '1916-01-01',
  '2200-06-30',
];
const zones = one(
  "'UTC'",
  "'Europe/Berlin'",
  "'America/New_York'",
  "'Asia/Kolkata'",
  "'Australia/Lord_Howe'",
  "'Pacific/Auckland'",
  "'America/St_Johns'",
);
const steps = one(
  "interval '1 month'",
  "interval '-1 month'",
  "interval '13 months -3 days'",
  "interval '1 year 2 months 3 days 04:05:06.789'",
  "interval '90 minutes'",
  "interval '-26 hours'",
  "interval '1 day'",
  "interval '0.000001 seconds'",
);
const units = one(
  "'microseconds'",
  "'milliseconds'",
  "'second'",
  "'minute'",
  "'hour'",
  "'day'",
  "'week'",
  "'month'",
  "'quarter'",
  "'year'",
  "'decade'",
);
const clockFields = ['hour', 'minute', 'second', 'milliseconds', 'microseconds'] as const;
const fields = one(
  'year',
  'month',
  'day',
  ...clockFields,
  'doy',
  'dow',
  'isodow',
  'week',
  'isoyear',
  'quarter',
  'epoch',
);
const widths = one("'15 minutes'", "'7 hours 3 seconds'", "'1 day'", "'11 days'", "'0.25 seconds'");
const formats = one(
  "'YYYY-MM-DD HH24:MI:SS.US'",
  "'FMDay, DD FMMonth YYYY'",
  "'Dy Mon D DDD HH12:MI AM'",
  "'IYYY-IW-ID Q'",
  '\'FMHH12:MI:SS am "x" YY\'',
);

const { zoned, local, day } = fc.letrec<Times>((tie) => {
  const pick = (...choices: readonly fc.Arbitrary<string>[]) =>
    fc.oneof({ depthSize: 'small', withCrossShrink: true, maxDepth: 4 }, ...choices);
  const branch = (value: fc.Arbitrary<string>) =>
    written`(case when ${bool} then ${value} else ${value} end)`;
  const moment = fc.oneof(tie('zoned'), tie('local'), tie('day'));
  return {
    zoned: pick(
      one('p_timestamp', 'null::timestamptz', ...moments.map((each) => `timestamptz '${each}+00'`)),
      written`(${tie('local')} at time zone ${zones})`,
      written`(${tie('zoned')} ${one('+', '-')} ${steps})`,
      written`date_trunc(${units}, ${tie('zoned')})`,
      written`date_trunc(${units}, ${tie('zoned')}, ${zones})`,
      written`date_bin(${widths}, ${tie('zoned')}, ${tie('zoned')})`,
      written`greatest(${tie('zoned')}, ${tie('zoned')})`,
      written`to_timestamp(extract(epoch from ${moment})::float8)`,
      branch(tie('zoned')),
    ),
    local: pick(
      one(...moments.map((each) => `timestamp '${each}'`)),
      written`(${tie('zoned')} at time zone ${zones})`,
      written`(${fc.oneof(tie('local'), tie('day'))} ${one('+', '-')} ${steps})`,
      written`date_trunc(${units}, ${tie('local')})`,
      written`date_bin(${widths}, ${tie('local')}, timestamp '2001-01-01 00:07')`,
      written`${tie('day')}::timestamp`,
      written`least(${tie('local')}, ${tie('day')})`,
      branch(tie('local')),
    ),
    day: pick(
      one('null::date', ...days.map((each) => `date '${each}'`)),
      written`(${tie('day')} ${one('+', '-')} ${one('id::int', '1', '(-40)', '366')})`,
      written`${fc.oneof(tie('zoned'), tie('local'))}::date`,
      branch(tie('day')),
    ),
  };
});

const comparisons = one('=', '<>', '<', '<=', '>', '>=', 'is distinct from');
const moment = fc.oneof(zoned, local, day);

const counts = one('1', '0', '-3', '14', 'id::int', '(status::int % 7)');
const intervalFields = one(
  'millennium',
  'century',
  'decade',
  'year',
  'month',
  'day',
  ...clockFields,
  'epoch',
);
/** Intervals of which the months, days and hours are known apart. */
const { span } = fc.letrec<{ readonly span: string }>((tie) => {
  const inner = tie('span');
  return {
    span: fc.oneof(
      { depthSize: 'small', withCrossShrink: true, maxDepth: 3 },
      steps,
      written`age(${moment}, ${moment})`,
      written`(${moment} - ${fc.oneof(zoned, local)})`,
      written`make_interval(months => ${counts}, days => ${counts}, secs => ${one('0', '-0.5', 'ms', '3700.000001')})`,
      written`make_interval(${counts}, ${counts}, ${counts}, ${counts}, ${counts}, ${counts})`,
      written`(${inner} ${one('+', '-')} ${inner})`,
      written`(-${inner})`,
      written`(${inner} * ${counts})`,
      written`${one('justify_days', 'justify_hours', 'justify_interval')}(${inner})`,
      written`date_trunc(${units}, ${inner})`,
    ),
  };
});
const dateFormats = one("'YYYY-MM-DD'", "'DD Mon YYYY'", "'YYYYMMDD'", "'MM/DD/YY'");
const timeFormats = one(
  "'YYYY-MM-DD HH24:MI:SS.US'",
  "'YYYYMMDDHH24MISSMS'",
  "'DD/Mon/YYYY HH12:MI PM'",
  '\'Month DD, YYYY "at" HH24\'',
);
/** What `to_char` writes, read again by the same format. */
const readAgain = (name: string, formats: fc.Arbitrary<string>) =>
  fc.tuple(local, formats).map(([value, format]) => `${name}(to_char(${value}, ${format}), ${format})`);
const end = fc.oneof(moment, steps);

/** Any value made of dates and timestamps. */
export const anyOfTimes = fc.oneof(
  zoned,
  local,
  day,
  written`extract(${fields} from ${moment})`,
  written`to_char(${fc.oneof(zoned, local)}, ${formats})`,
  written`(${day} - ${day})`,
  written`(${moment} - ${fc.oneof(zoned, local)})`,
  written`extract(epoch from (${moment} - ${fc.oneof(zoned, local)}))`,
  written`(${moment} ${comparisons} ${moment})`,
  written`${moment}::text`,
  written`(${day} + ${int} * interval '1 hour')`,
  written`(${moment} between ${moment} and ${moment})`,
  span,
  span,
  written`${span}::text`,
  written`extract(${intervalFields} from ${span})`,
  written`(${span} ${comparisons} ${span})`,
  written`(${moment} ${one('+', '-')} make_interval(months => ${counts}, days => ${counts}, hours => ${counts}))`,
  written`(${local} + ${counts} * ${steps})`,
  written`((${moment}, ${end}) overlaps (${moment}, ${end}))`,
  written`make_date(${one('1950', '2024', 'id::int + 1960')}, ${one('2', '12', 'id::int % 12 + 1', '13')}, ${one('1', '29', 'id::int % 31 + 1', '0')})`,
  written`make_timestamp(2023, 7, 31, ${one('0', '23', '24', 'id::int')}, ${one('0', '59')}, ${one('0', '59.9999999', 'ms', '60')})`,
  readAgain('to_date', dateFormats),
  readAgain('to_timestamp', timeFormats),
  written`extract(julian from ${day})`,
);
