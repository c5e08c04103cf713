import type { Arbitrary } from 'fast-check';
import { aggregateStatement } from './aggregate-statements.ts';
import { extremeStatement } from './extreme-statements.ts';
import { groupingStatement } from './grouping-statements.ts';
import { joinStatement } from './join-statements.ts';
import { jsonStatement } from './json-statements.ts';
import { literalStatement } from './literal-statements.ts';
import { patternStatement } from './pattern-statements.ts';
import { setStatement } from './set-statements.ts';
import { textStatement } from './text-statements.ts';
import { timeStatement } from './time-statements.ts';
import { windowStatement } from './window-statements.ts';

/** Random statements by the part of SQL that they try. */
export const statementClasses = {
  grouping: groupingStatement,
  patterns: patternStatement,
  extremes: extremeStatement,
  literals: literalStatement,
  joins: joinStatement,
  windows: windowStatement,
  sets: setStatement,
  json: jsonStatement,
  text: textStatement,
  aggregates: aggregateStatement,
  times: timeStatement,
} as const satisfies Readonly<Record<string, Arbitrary<string>>>;

export type StatementClass = keyof typeof statementClasses;
