/**
 * SQL whose lists and nestings are repeated n, 2n and 4n times: what the translator counts, and the
 * statement that it makes, must grow with n, not with its square. Counts, not times. fast-check prints
 * the seed of a failure.
 */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { AppError } from '../../src/errors.ts';
import { TranslationBudget } from '../../src/sql/budget.ts';
import { parseWithin } from '../../src/sql/syntax/parse.ts';
import { translate } from '../../src/sql/translate-query.ts';
import { randomRuns } from '../sql/random-runs.ts';
import { smallCatalog } from '../support/sql/small-catalogs.ts';
import { anyShape, eachShape, type QueryShape, twoShapes } from '../support/sql/sql-shapes.ts';

const counted = ['steps', 'syntaxNodes', 'resolvedNodes'] as const;

/** What a query costs; undefined for one that is refused. */
async function costOf(sql: string): Promise<Readonly<Record<string, number>> | undefined> {
  const budget = new TranslationBudget();
  try {
    const statement = translate(
      await parseWithin(budget, sql),
      smallCatalog,
      { start: true, end: true },
      budget,
    );
    const counts = counted.map((bound) => [bound, budget.spent(bound)] as const);
    return { ...Object.fromEntries(counts), characters: statement.sql.length };
  } catch (thrown) {
    // What is refused has a code; anything else is a bug.
    if (!(thrown instanceof AppError) || thrown.code === 'internal') throw thrown;
    return undefined;
  }
}

/**
 * From 2n to 4n, as often as from n to 2n: twice where the growth is linear, four times where it is
 * quadratic. A chain of joins looks at the names to its left in each, which is a small part of its cost at
 * the lengths that are allowed.
 */
const maxGrowth = 3;
const smallest = 12;

/** @returns whether it was translated at all */
async function checkGrowth({ name, sql }: QueryShape): Promise<boolean> {
  const costs = await Promise.all([1, 2, 4].map((times) => costOf(sql(smallest * times))));
  const [once, twice, fourTimes] = costs;
  if (once === undefined || twice === undefined || fourTimes === undefined) return false;
  for (const [what, cost] of Object.entries(fourTimes)) {
    const [first = 0, second = 0] = [once[what], twice[what]];
    const growth = (cost - second) / Math.max(1, second - first);
    expect(growth, `${what} of ${name}: ${first}, ${second}, ${cost}`).toBeLessThanOrEqual(maxGrowth);
  }
  return true;
}

test('of every list and nesting of the grammar', async () => {
  const refused: string[] = [];
  for (const shape of eachShape(1)) if (!(await checkGrowth(shape))) refused.push(shape.name);
  expect(refused).toEqual([]);
});

test.each([
  ['one list or nesting', anyShape],
  ['two in one query', twoShapes],
])('of random pieces: %s', async (_, shapes) => {
  let translated = 0;
  let all = 0;
  const property = fc.asyncProperty(shapes, async (shape) => {
    all += 1;
    if (await checkGrowth(shape)) translated += 1;
  });
  await fc.assert(property, randomRuns(150));
  // Else it looks at refusals.
  expect(translated).toBeGreaterThan(all / 2);
});

test('finds what grows with the square', async () => {
  const correlated = (n: number) => Array.from({ length: n }, () => 'sum(b.ms)').join(' + ');
  const conditions = (n: number) => Array.from({ length: n }, (_, i) => `b.ms > a.ms + ${i}`).join(' and ');
  // Each aggregate becomes a subquery with all of the conditions.
  const sql = (n: number) => `select (select ${correlated(n)} from app b where ${conditions(n)}) from app a`;
  await expect(checkGrowth({ name: 'product', sql })).rejects.toThrow('of product');
});
