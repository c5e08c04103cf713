import * as fc from 'fast-check';
import { bool, int } from './expressions.ts';
import { one, written } from './written.ts';

/** Random expressions over the fixture `app` of dates, timestamps with and without time zone, and their zones. */
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
);
const fields = one(
  'year',
  'month',
  'day',
  'hour',
  'minute',
  'second',
  'milliseconds',
  'microseconds',
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
);
