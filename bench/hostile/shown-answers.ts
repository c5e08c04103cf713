import type { Answer } from './answer.ts';

/** `3 x 400 sql_too_large, 503 overloaded`. */
export function shownAnswers(answers: readonly Answer[]): string {
  const counts = new Map<string, number>();
  for (const { status, code } of answers) {
    const text = code === undefined ? String(status) : `${status} ${code}`;
    counts.set(text, (counts.get(text) ?? 0) + 1);
  }
  return [...counts].map(([text, count]) => (count === 1 ? text : `${count} x ${text}`)).join(', ');
}
