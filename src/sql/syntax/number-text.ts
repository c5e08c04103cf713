/** A number as SQL writes it, without a sign or with one: `12`, `1.5`, `.5`, `1.`, `1e-3`. */
const number = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i;

export const isNumberText = (text: string): boolean => number.test(text);
