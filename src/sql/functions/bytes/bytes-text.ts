import { letBindings } from '../../let-bindings.ts';
import { raiseIf } from '../../syntax/raise.ts';

/** Bytes as PostgreSQL shows them, in the store's SQL. */
export const bytesText = (value: string): string => `concat('\\\\x', lower(hex(${value})))`;

/** The bytes that a text means; octal digits behind a backslash are read in literals alone. */
export const bytesOfText = (value: string): string => {
  const isBadHex = raiseIf(
    "startsWith(t, '\\\\x') AND NOT match(t, '^\\\\\\\\x([0-9a-fA-F]{2})*$')",
    'badEncoding',
  );
  const hasEscapes = raiseIf("position(t, '\\\\') > 0 AND NOT startsWith(t, '\\\\x')", 'escapedBytes');
  const plain = `concat(t, substring('', 1 + ${isBadHex} + ${hasEscapes}))`;
  return letBindings(['t'], [value], `if(startsWith(t, '\\\\x'), unhex(substring(${plain}, 3)), ${plain})`);
};
