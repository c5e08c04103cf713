import { spend } from './budget.ts';
import type { Apply, Column, Expr, Literal, LiteralValue, Parameter, Renderer } from './ir.ts';
import { bool, type SqlType } from './types.ts';

/** Makers of typed expressions. */
export function apply(name: string, type: SqlType, render: Renderer, ...args: readonly Expr[]): Apply {
  spend('resolvedNodes', 1 + args.length);
  return { kind: 'apply', type, name, render, args };
}

export function literal(type: SqlType, value: LiteralValue): Literal {
  spend('resolvedNodes');
  return { kind: 'literal', type, value };
}

/** The literal NULL. */
export const isNull = (expr: Expr | undefined): boolean => expr?.kind === 'literal' && expr.value === null;

/** @param label as the user wrote it */
export function columnOf(relation: string, name: string, type: SqlType, label: string): Column {
  spend('resolvedNodes');
  return { kind: 'column', type, relation, name, label, outer: false };
}

export const and = (...args: readonly Expr[]): Apply =>
  apply('and', bool, (...parts) => `(${parts.join(' AND ')})`, ...args);

/** A column of the query around, as that query itself sees it. */
export function fromOutside(column: Column): Column {
  const { far, ...rest } = column;
  return { ...rest, outer: far !== undefined };
}

/** Conditions as one. */
export const allOf = ([first, ...rest]: readonly Expr[]): Expr | undefined =>
  first === undefined || rest.length === 0 ? first : and(first, ...rest);

export const or = (...args: readonly Expr[]): Apply =>
  apply('or', bool, (...parts) => `(${parts.join(' OR ')})`, ...args);

export const not = (arg: Expr): Apply => apply('not', bool, (part) => `(NOT ${part})`, arg);

/** A value of the query itself, or one that is given with it. */
export const isConstant = (expr: Expr): expr is Literal | Parameter =>
  expr.kind === 'literal' || expr.kind === 'parameter';

/** The integer of which an expression is the decimal, if it is one. */
export const integerOf = (expr: Expr): Expr | undefined =>
  expr.kind === 'apply' && expr.ofInteger === true ? expr.args[0] : undefined;

/** The same where no digit of it is behind the point: the two are equal as numbers. */
export const wholeOf = (expr: Expr): Expr | undefined =>
  expr.type.name === 'numeric' && expr.type.scale === 0 ? integerOf(expr) : undefined;

/** The expressions directly under one. The inside of a subquery isn't among them. */
export function children(expr: Expr): readonly Expr[] {
  spend('steps');
  switch (expr.kind) {
    case 'literal':
    case 'parameter':
    case 'column':
    case 'mixed':
      return [];
    case 'apply':
      return expr.args;
    case 'subquery':
      return expr.arg === undefined ? [] : [expr.arg];
    case 'aggregate': {
      const { over } = expr;
      const window =
        over === undefined ? [] : [...over.partitionBy, ...over.orderBy.map((sort) => sort.expr)];
      return [...expr.args, ...(expr.filter === undefined ? [] : [expr.filter]), ...window];
    }
  }
}

/** True if the expression or one below it satisfies the condition. */
export const some = (expr: Expr, condition: (expr: Expr) => boolean): boolean =>
  condition(expr) || children(expr).some((child) => some(child, condition));

/** The aliases of the relations that an expression reads. */
export function relationsIn(expr: Expr): ReadonlySet<string> {
  const names = new Set<string>();
  some(expr, (each) => {
    if (each.kind === 'column') names.add(each.relation);
    return false;
  });
  return names;
}
