import { limits } from '../../limits/limits.ts';
import { datasetNamePattern } from '../../model/dataset.ts';

const nameCharacter = /[A-Za-z0-9_.-]/;
const plainName = /^[A-Za-z_][A-Za-z0-9_]*$/;
const beforeRelation = /(?:\bfrom|\bjoin|,)\s{1,16}$/i;
/** The keyword before a name, and the blanks between them. */
const maxKeywordLength = 24;

/**
 * What may have been meant where PostgreSQL's grammar stumbles over the name of a relation: a dataset whose
 * name needs double quotes, since it has a hyphen or a dot or begins with a digit.
 * @param position of the error, in characters
 * @returns `; …`, or nothing
 */
export function quotingHint(text: string, position: number): string {
  const isNamePart = (at: number) => nameCharacter.test(text.charAt(at));
  let start = position;
  while (start > 0 && position - start < limits.datasetNameMaxLength && isNamePart(start - 1)) start -= 1;
  let end = position;
  while (end < text.length && end - start <= limits.datasetNameMaxLength && isNamePart(end)) end += 1;
  const name = text.slice(start, end);
  if (plainName.test(name) || !datasetNamePattern.test(name)) return '';
  if (!beforeRelation.test(text.slice(Math.max(0, start - maxKeywordLength), start))) return '';
  return `; a dataset of the name ${name} is written in double quotes: "${name}"`;
}
