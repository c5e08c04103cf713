/** The elements of an array as PostgreSQL's text: `{1,NULL,"a b"}` (src/backend/utils/adt/arrayfuncs.c). */
export const arrayText = (elements: ReadonlyArray<string | null>): string =>
  `{${elements.map((element) => (element === null ? 'NULL' : quoted(element))).join(',')}}`;

const quoted = (text: string): string =>
  text === '' || /[ \t\n\v\f\r{}",\\]/.test(text) || /^null$/i.test(text)
    ? `"${text.replace(/["\\]/g, '\\$&')}"`
    : text;
