import { createRequire } from 'node:module';
import type { Node, SourceFile } from 'typescript/unstable/ast';
import {
  isCallExpression,
  isIdentifier,
  isNewExpression,
  isNoSubstitutionTemplateLiteral,
  isRegularExpressionLiteral,
  isStringLiteral,
  isTemplateExpression,
} from 'typescript/unstable/ast/is';
import { limits } from '../../../src/limits/limits.ts';
import { describeProject, describeText } from './sources.ts';

/** A regular expression of the source. */
export interface FoundRegex {
  /** `src/sql/syntax/datetime.ts: /\s+ago/i`, which is how exceptions name it. */
  readonly name: string;
  readonly source: string;
  readonly flags: string;
}

/** What is wrong with one; undefined if its time is linear in the length of the text. */
export type Fault = string | undefined;

const isOfProgram = (path: string): boolean => /^(?:src|workers)\//.test(path);

/** Those of the program at `root`, whatever makes them. */
export const regexesOf = (root: string): readonly FoundRegex[] =>
  describeProject(root, (source, path) => (isOfProgram(path) ? regexesIn(source, path) : [])).flat();

export const regexesFromText = (files: Readonly<Record<string, string>>): readonly FoundRegex[] =>
  describeText(files, regexesIn).flat();

function regexesIn(source: SourceFile, path: string): readonly FoundRegex[] {
  const found: FoundRegex[] = [];
  const add = (pattern: string, flags: string): void => {
    found.push({ name: `${path}: /${pattern}/${flags}`, source: pattern, flags });
  };
  const visit = (node: Node): void => {
    if (isRegularExpressionLiteral(node)) {
      const text = node.getText();
      const end = text.lastIndexOf('/');
      add(text.slice(1, end), text.slice(end + 1));
    }
    if ((isNewExpression(node) || isCallExpression(node)) && isIdentifier(node.expression)) {
      const [pattern, flags] = node.arguments ?? [];
      if (node.expression.text === 'RegExp') add(constantText(pattern, path), constantText(flags, path));
    }
    node.forEachChild(visit);
  };
  visit(source);
  return found;
}

/** The value of an expression that is made of constants alone, bounds among them. */
function constantText(node: Node | undefined, path: string): string {
  if (node === undefined) return '';
  if (isStringLiteral(node) || isNoSubstitutionTemplateLiteral(node)) return node.text;
  if (isTemplateExpression(node)) {
    const spans = node.templateSpans.map((span) => `${boundOf(span.expression, path)}${span.literal.text}`);
    return `${node.head.text}${spans.join('')}`;
  }
  throw new Error(`${path}: a RegExp is made of ${node.getText()}, which is not constant`);
}

/** `limits.identityNameMaxLength - 1` */
function boundOf(node: Node, path: string): number {
  const [, name = '', less = '0'] = /^limits\.(\w+)(?: - (\d+))?$/.exec(node.getText()) ?? [];
  const bound = Object.entries(limits).find(([each]) => each === name)?.[1];
  if (typeof bound === 'number') return bound - Number(less);
  throw new Error(`${path}: a RegExp is made of ${node.getText()}, which is not constant`);
}

/**
 * recheck in JavaScript alone. By its main entry it would look for its native program or its Java one, which
 * are packages of their own and do not run everywhere; that of browsers decides in this process.
 */
const { checkSync }: typeof import('recheck') = createRequire(import.meta.url)('recheck/lib/browser.js');

/**
 * Its steps are bounded, and no time is: an attack that takes a slow machine too long would count as a fault.
 */
const inAnyTime = { timeout: null, attackTimeout: null, incubationTimeout: null, seedingTimeout: null };

/** By the automaton of the expression where there is one, else by attacks that the checker thinks of. */
export function faultOf({ source, flags }: FoundRegex): Fault {
  const result = checkSync(source, flags, { ...inAnyTime, randomSeed: 1 });
  if (result.status === 'safe') return undefined;
  return result.status === 'vulnerable' ? result.complexity.summary : `not known: ${result.error.kind}`;
}
