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

/** Of hours, minutes and seconds with colons; the other spellings are read in literals alone. */
export const timeOfDayOfText = (value: string): string => {
  const shape = '^\\\\s*\\\\d{1,2}:\\\\d{1,2}(:\\\\d{1,2}(\\\\.\\\\d+)?)?\\\\s*$';
  const part = (index: number, otherwise: string): string =>
    `ifNull(toInt64OrNull(splitByChar(':', w)[${index}]), ${otherwise})`;
  const seconds = `ifNull(toFloat64OrNull(splitByChar(':', w)[3]), 0)`;
  const micros = letBindings(
    ['h', 'm', 's'],
    [part(1, '0'), part(2, '0'), seconds],
    `(h * 3600000000 + m * 60000000 + toInt64(roundBankers(s * 1000000)) + ${raiseIf(
      `h > 24 OR m > 59 OR s >= 61 OR h * 3600 + m * 60 + s > 86400`,
      'outOfRange',
    )})`,
  );
  const isBad = `toUInt8(if(match(ifNull(w, '0:0'), '${shape}'), '0', 'no time'))`;
  const read = letBindings(['w'], [`trimBoth(${value})`], `if(isNull(w), NULL, ${micros} + ${isBad})`);
  return read;
};
