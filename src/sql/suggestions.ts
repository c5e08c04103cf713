import { closestNames } from '../lib/closest-names.ts';

/** `; did you mean "x"?`, or nothing. */
export function suggestion(name: string, candidates: Iterable<string>): string {
  const names = closestNames(name, candidates);
  return names.length === 0
    ? ''
    : `; did you mean ${names.map((each) => JSON.stringify(each)).join(' or ')}?`;
}
