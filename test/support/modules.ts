import { dirname, join, relative } from 'node:path';
import type { Node, SourceFile } from 'typescript/unstable/ast';
import {
  isElementAccessExpression,
  isExportDeclaration,
  isIdentifier,
  isImportDeclaration,
  isPropertyAccessExpression,
  isVariableDeclaration,
} from 'typescript/unstable/ast/is';
import { createVirtualFileSystem } from 'typescript/unstable/fs';
import { API } from 'typescript/unstable/sync';

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
export function readModules(root: string): Module[] {
  return parse(new API({ cwd: root }), root);
}

/** Reads modules given as text, for tests of the rules themselves. */
export function modulesFromText(files: Readonly<Record<string, string>>): Module[] {
  const root = '/fixture';
  const compilerOptions = { noLib: true, types: [], module: 'nodenext', noEmit: true };
  const onDisk: Record<string, string> = {
    [`${root}/tsconfig.json`]: JSON.stringify({ compilerOptions, include: ['src', 'workers', 'bench'] }),
  };
  for (const [path, text] of Object.entries(files)) onDisk[`${root}/${path}`] = text;
  return parse(new API({ cwd: root, fs: createVirtualFileSystem(onDisk) }), root);
}

function parse(api: API, root: string): Module[] {
  try {
    const snapshot = api.updateSnapshot({ openProjects: [join(root, 'tsconfig.json')] });
    return snapshot.getProjects().flatMap((project) =>
      project.rootFiles.map((file) => {
        const source = project.program.getSourceFile(file);
        if (source === undefined) throw new Error(`TypeScript has no source for ${file}`);
        return describe(source, relative(root, file));
      }),
    );
  } finally {
    api.close();
  }
}

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
