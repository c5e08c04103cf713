import { dirname, join } from 'node:path';
import type { Node, SourceFile } from 'typescript/unstable/ast';
import {
  isElementAccessExpression,
  isExportDeclaration,
  isIdentifier,
  isImportDeclaration,
  isPropertyAccessExpression,
  isVariableDeclaration,
} from 'typescript/unstable/ast/is';
import { describeProject, describeText } from './sources.ts';

/** A source file as the layout rules see it. Paths are relative to the root, with forward slashes. */
export interface Module {
  readonly path: string;
  /** Files of the tree that it imports: static, dynamic, re-exported and type-only alike. */
  readonly imports: readonly string[];
  /** Packages and Node built-ins that it imports, as written. */
  readonly packages: readonly string[];
  /** True when nothing stands in the file but re-exports of other files (and the imports for them). */
  readonly barrel: boolean;
  /** Lines that read `process.env` or `process.argv`, or take `process` in a way that could. */
  readonly environmentLines: readonly number[];
}

/** Reads the modules of the project at `root`, which has a `tsconfig.json`. */
export const readModules = (root: string): Module[] => describeProject(root, describe);

/** Reads modules given as text, for tests of the rules themselves. */
export const modulesFromText = (files: Readonly<Record<string, string>>): Module[] =>
  describeText(files, describe);

function describe(source: SourceFile, path: string): Module {
  const specifiers = source.imports.map((node) => literalText(node));
  return {
    path,
    imports: specifiers.filter((name) => name.startsWith('.')).map((name) => join(dirname(path), name)),
    packages: specifiers.filter((name) => !name.startsWith('.')),
    barrel: isBarrel(source),
    environmentLines: environmentLines(source, specifiers),
  };
}

/** The text between the quotes of a module specifier. */
const literalText = (node: Node): string => node.getText().slice(1, -1);

function isBarrel(source: SourceFile): boolean {
  return (
    source.statements.some((statement) => isExportDeclaration(statement)) &&
    source.statements.every((statement) => isExportDeclaration(statement) || isImportDeclaration(statement))
  );
}

function environmentLines(source: SourceFile, specifiers: readonly string[]): number[] {
  const found: number[] = [];
  const visit = (node: Node): void => {
    if (isIdentifier(node) && node.text === 'process' && reachesEnvironment(node)) {
      found.push(source.getLineAndCharacterOfPosition(node.getStart(source)).line + 1);
    }
    node.forEachChild(visit);
  };
  visit(source);
  // `import { env } from 'node:process'` goes round the property access.
  if (specifiers.some((name) => name === 'node:process' || name === 'process')) found.push(1);
  return found;
}

const environmentProperties = new Set(['env', 'argv', 'argv0', 'execArgv']);

/** `process` by a dot is judged by the property; by brackets, or given another name, it could be anything. */
function reachesEnvironment(identifier: Node): boolean {
  const qualified = isPropertyAccessExpression(identifier.parent) && identifier.parent.name === identifier;
  const value = qualified ? identifier.parent : identifier; // `globalThis.process` is `process` too
  const { parent } = value;
  if (isPropertyAccessExpression(parent)) return environmentProperties.has(parent.name.text);
  if (isElementAccessExpression(parent)) return parent.expression === value;
  return isVariableDeclaration(parent) && parent.initializer === value;
}
