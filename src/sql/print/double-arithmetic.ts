import type { DoubleOperator, Expr } from '../ir.ts';
import { bindOnce } from '../let-bindings.ts';
import { raiseIf } from '../syntax/raise.ts';

/**
 * Arithmetic of doubles with PostgreSQL's errors (float8_pl, float8_mi, float8_mul and float8_div in
 * src/include/utils/float.h): an infinity that comes of none and a zero that comes of none are out of range.
 * What is an infinity or NaN already is computed with like any other.
 *
 * Operations within each other are computed as they are, and checked together: the engine does all of it for
 * a whole block of rows, so a check that is a few comparisons costs less than any branch.
 */
type Term = Leaf | Operation;

interface Leaf {
  readonly sql: string;
  /** Undefined for what is no literal. */
  readonly value: number | undefined;
}

interface Operation {
  readonly operator: DoubleOperator;
  readonly left: Term;
  readonly right: Term;
}

/**
 * Of one check: its length grows with the square. What is behind that is a value like any other,
 * with checks of its own.
 */
const maxOperations = 8;
/**
 * Less than half of the last place of the largest double: what is added to any other double, it
 * changes nothing there.
 */
const harmlessAddend = 1e291;

const isOperation = (term: Term): term is Operation => 'operator' in term;
const literalOf = (term: Term): number | undefined => (isOperation(term) ? undefined : term.value);

export function printDoubleArithmetic(expr: Expr, print: (expr: Expr) => string): string {
  let operations = 0;
  const leaves: Leaf[] = [];
  const termOf = (each: Expr): Term => {
    if (each.kind === 'apply' && each.arithmetic !== undefined && operations < maxOperations) {
      operations += 1;
      const [left, right] = each.args;
      if (left === undefined || right === undefined) throw new Error('BUG: arithmetic has two operands');
      return { operator: each.arithmetic, left: termOf(left), right: termOf(right) };
    }
    const leaf = { sql: print(each), value: each.kind === 'literal' ? numberOf(each.value) : undefined };
    leaves.push(leaf);
    return leaf;
  };
  const tree = termOf(expr);
  if (checksOf(tree, (leaf) => leaf.sql).every(({ length }) => length === 0))
    return plain(tree, (leaf) => leaf.sql);
  return bindOnce(
    leaves.map((leaf) => leaf.sql),
    (...shorts) => {
      const shown: Show = (leaf) => shorts[leaves.indexOf(leaf)] ?? leaf.sql;
      const [range, zero] = checksOf(tree, shown);
      // Nothing is taken away: to add it would make a zero of a negative one.
      const checks = [
        ...(range.length === 0 ? [] : [` - ${raiseIf(range.join(' OR '), 'outOfRange')}`]),
        ...(zero.length === 0 ? [] : [` - ${raiseIf(zero.join(' OR '), 'divisionByZero')}`]),
      ];
      return `(${plain(tree, shown)}${checks.join('')})`;
    },
  );
}

type Show = (leaf: Leaf) => string;

/** Nothing comes of NULL, as of NaN. */
const numberOf = (value: unknown): number => (value === null ? Number.NaN : Number(value));

const plain = (term: Term, show: Show): string =>
  isOperation(term) ? `(${plain(term.left, show)} ${term.operator} ${plain(term.right, show)})` : show(term);

/** Conditions for "out of range" and for "division by zero", of each operation that may meet them. */
function checksOf(term: Term, show: Show): readonly [range: readonly string[], zero: readonly string[]] {
  if (!isOperation(term)) return [[], []];
  const { operator, left, right } = term;
  const [leftRange, leftZero] = checksOf(left, show);
  const [rightRange, rightZero] = checksOf(right, show);
  const [a, b, result] = [left, right, term].map((each) => plain(each, show)) as [string, string, string];
  const infinite = (...others: readonly string[]): string => moreThan(`isInfinite(${result})`, others);
  const vanished = (...others: readonly string[]): string => moreThan(`(${result} = 0)`, others);
  const [x, y] = [literalOf(left), literalOf(right)];
  const own: string[] = [];
  if (operator === '/') {
    if (canGrow(x, y))
      own.push(infinite(...infiniteUnless(x, a), ...(y === undefined ? [`(${b} = 0)`] : [])));
    if (canShrink(x, y)) own.push(vanished(...zeroUnless(x, a), ...infiniteUnless(y, b)));
  } else if (operator === '*') {
    if (isLarge(x) && isLarge(y)) own.push(infinite(...infiniteUnless(x, a), ...infiniteUnless(y, b)));
    if (isSmall(x) && isSmall(y)) own.push(vanished(...zeroUnless(x, a), ...zeroUnless(y, b)));
  } else if (isAddend(x) && isAddend(y)) {
    own.push(infinite(...infiniteUnless(x, a), ...infiniteUnless(y, b)));
  }
  // One that is NULL makes all of them NULL, so they can be added up.
  const range = own.length === 0 ? [] : [own.join(' + ')];
  const zero = operator === '/' && (y === undefined || y === 0) ? [`(${b} = 0) > isNaN(${a})`] : [];
  return [
    [...leftRange, ...rightRange, ...range],
    [...leftZero, ...rightZero, ...zero],
  ];
}

const moreThan = (condition: string, others: readonly string[]): string =>
  `(${condition} > ${others.length === 0 ? '0' : others.join(' + ')})`;

const infiniteUnless = (value: number | undefined, sql: string): readonly string[] =>
  value === undefined ? [`isInfinite(${sql})`] : [];
const zeroUnless = (value: number | undefined, sql: string): readonly string[] =>
  value === undefined ? [`(${sql} = 0)`] : [];

const isUsual = (value: number): boolean => Number.isFinite(value) && value !== 0;
/** As a factor: whether it can make a number too large, or too small. */
const isLarge = (value: number | undefined): boolean =>
  value === undefined || (isUsual(value) && Math.abs(value) > 1);
const isSmall = (value: number | undefined): boolean =>
  value === undefined || (isUsual(value) && Math.abs(value) < 1);
const isAddend = (value: number | undefined): boolean =>
  value === undefined || (Number.isFinite(value) && Math.abs(value) >= harmlessAddend);

/** Of a quotient. */
const canGrow = (dividend: number | undefined, divisor: number | undefined): boolean =>
  (dividend === undefined || isUsual(dividend)) && isSmall(divisor);
const canShrink = (dividend: number | undefined, divisor: number | undefined): boolean =>
  (dividend === undefined || isUsual(dividend)) && isLarge(divisor);
