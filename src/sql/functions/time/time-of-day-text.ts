import { quoteString } from '../../../lib/quote.ts';
import { microsPerDay } from '../../../lib/timestamp.ts';
import { letBindings } from '../../let-bindings.ts';
import { raiseIf } from '../../syntax/raise.ts';

/** A number of microseconds brought between 0 and a day. */
export const withinDay = (micros: string): string =>
  `toInt64(positiveModulo(${micros}, toInt64(${microsPerDay})))`;

const two = (number: string): string => `leftPad(toString(${number}), 2, '0')`;

/** `10:20:30.5`, in the store's SQL. */
export const timeOfDayText = (value: string): string => {
  const fraction = "concat('.', trimRight(leftPad(toString(t % 1000000), 6, '0'), '0'))";
  const parts = [
    two('intDiv(t, 3600000000)'),
    "':'",
    two('intDiv(t, 60000000) % 60'),
    "':'",
    two('intDiv(t, 1000000) % 60'),
    `if(t % 1000000 = 0, '', ${fraction})`,
  ];
  return letBindings(['t'], [value], `concat(${parts.join(', ')})`);
};

const zone = '\\s*(?:z|[+-]\\d{1,2}(?::?\\d{2})?)?\\s*';
const secondAndRest = `(\\d{1,2}(?:\\.\\d+)?)\\.?)?(?:${zone}([ap]m)?|\\s*([ap]m)?${zone})$`;
const zoneNamedHalf = quoteString('[ap]m-[\\d:]{1,8}$');
const withColons = quoteString(`^(?:t\\s*)?(\\d{1,2}):(\\d{1,2})(?::${secondAndRest}`);
const withoutColons = quoteString(`^(?:t\\s*)?(\\d{2})(\\d{2})(?:${secondAndRest}`);

/** As `readTimeOfDay` reads a literal. */
export const timeOfDayOfText = (value: string): string => {
  const [hours, minutes] = [1, 2].map((part) => `toInt64OrZero(g[${part}])`);
  const isBad = `h > 24 OR m > 59 OR s >= 61 OR h * 3600 + m * 60 + s > 86400 OR f != '' AND (i < 1 OR i > 12)`;
  const micros = `(h * 3600000000 + m * 60000000 + toInt64(roundBankers(s * 1000000)) + ${raiseIf(isBad, 'outOfRange')})`;
  const ofHalf = "if(f = '', i, i % 12 + if(f = 'pm', 12, 0))";
  const ofGroups = letBindings(
    ['i', 'm', 's', 'f'],
    [hours ?? '', minutes ?? '', 'toFloat64OrZero(g[3])', 'concat(g[4], g[5])'],
    letBindings(['h'], [ofHalf], micros),
  );
  const isNone = `toUInt8(if(empty(g), 'no time', '0'))`;
  const groups = `if(match(t, ${withColons}), extractGroups(t, ${withColons}), extractGroups(t, ${withoutColons}))`;
  const read = letBindings(['g'], [groups], `${ofGroups} + ${isNone}`);
  const word = `trimRight(replaceRegexpOne(lower(trimBoth(ifNull(w, '0:0'))), ${zoneNamedHalf}, ''))`;
  const text = letBindings(['t'], [`if(${word} = 'allballs', '0:0', ${word})`], read);
  return letBindings(['w'], [value], `if(isNull(w), NULL, ${text})`);
};
