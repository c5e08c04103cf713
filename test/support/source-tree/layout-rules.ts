import type { Module } from './modules.ts';

/** A rule of the tree: what breaks it, one line each, beginning with the file. */
export type LayoutRule = (modules: readonly Module[]) => string[];

/**
 * Folders (or files) of `src/` in the order in which they may build on each other: each may import itself and
 * the groups before its own.
 */
const layers: ReadonlyArray<readonly string[]> = [
  ['errors', 'limits'],
  ['lib'],
  ['model'],
  ['columnar'],
  ['decode', 'sql', 'auth', 'wal', 'clickhouse'],
  ['metadata'],
  ['catalog'],
  ['drain', 'ingest', 'query', 'identity', 'datasets', 'access'],
  ['audit', 'cluster', 'backup'],
  ['documents'],
  ['dashboards', 'notifications', 'tail'],
  ['alerts'],
  ['http', 'pgwire'],
  ['cli'],
  ['app'],
  ['program'],
  ['main'],
];
/** `config` is known only where the program is composed and started; everything else is given values. */
const configImports = new Set(['errors', 'limits', 'lib']);
const configImporters = new Set(['app', 'cli', 'program']);
/** The console runs in browsers: of the service it knows words alone, and the service nothing of it. */
const consoleImports = new Set(['model']);
/** Threads load what they need and nothing of the service around it. */
const workerImports = new Set(['errors', 'limits', 'lib', 'decode', 'sql', 'clickhouse']);

/** `src/wal/scan.ts` → `wal`, `src/main.ts` → `main`, `workers/decode.ts` → `workers`. */
function unitOf(path: string): string {
  const [top = '', second = ''] = path.split('/');
  return top === 'src' ? second.replace(/\.ts$/, '') : top;
}

const rankOf = (unit: string): number => layers.findIndex((group) => group.includes(unit));

function mayImport(from: string, to: string): boolean {
  if (from === to) return true;
  if (from === 'workers') return workerImports.has(to);
  if (from === 'console') return consoleImports.has(to);
  if (from === 'config') return configImports.has(to);
  if (to === 'config') return configImporters.has(from);
  return rankOf(to) >= 0 && rankOf(to) < rankOf(from);
}

const product = (modules: readonly Module[]): readonly Module[] =>
  modules.filter((module) => module.path.startsWith('src/') || module.path.startsWith('workers/'));

export const importsPointOneWay: LayoutRule = (modules) =>
  product(modules).flatMap((module) =>
    module.imports
      .filter((target) => !mayImport(unitOf(module.path), unitOf(target)))
      .map((target) => `${module.path} imports ${target}`),
  );

export const everyFolderHasALayer: LayoutRule = (modules) =>
  product(modules)
    .filter((module) => {
      const unit = unitOf(module.path);
      return !['workers', 'config', 'console'].includes(unit) && rankOf(unit) < 0;
    })
    .map((module) => `${module.path}: "${unitOf(module.path)}" has no layer`);

/** Depth-first; a file met again while it is still being visited closes a cycle. */
export const noCycles: LayoutRule = (modules) => {
  const importsOf = new Map(modules.map((module) => [module.path, module.imports]));
  const done = new Set<string>();
  const cycles: string[] = [];
  const visit = (path: string, trail: readonly string[]): void => {
    const start = trail.indexOf(path);
    if (start >= 0) {
      cycles.push([...trail.slice(start), path].join(' → '));
      return;
    }
    if (done.has(path)) return;
    for (const target of importsOf.get(path) ?? []) visit(target, [...trail, path]);
    done.add(path);
  };
  for (const module of modules) visit(module.path, []);
  return cycles;
};

export const noBarrels: LayoutRule = (modules) =>
  modules
    .filter((module) => module.barrel || module.path.endsWith('/index.ts'))
    .map((module) => `${module.path} only passes on other files`);

/** A file is found by its name, and in a stack or a search the name alone says which one it is. */
export const namesAreUnique: LayoutRule = (modules) => {
  const pathOf = new Map<string, string>();
  return product(modules).flatMap(({ path }) => {
    const name = path.split('/').at(-1) ?? path;
    const other = pathOf.get(name);
    pathOf.set(name, other ?? path);
    return other === undefined ? [] : [`${path} has the name of ${other}`];
  });
};

export const onlyConfigReadsTheEnvironment: LayoutRule = (modules) =>
  product(modules)
    .filter((module) => module.path !== 'src/config/config.ts')
    .flatMap((module) =>
      module.environmentLines.map((line) => `${module.path}:${line} reads the environment`),
    );

export const onlyHttpKnowsItsServer: LayoutRule = (modules) =>
  product(modules).flatMap(({ path, packages }) =>
    packages
      .filter((name) => name === 'uWebSockets.js' || (path.startsWith('src/http/') && name === 'node:http'))
      .filter(() => !path.startsWith(httpServer))
      .map((name) => `${path} imports ${name}`),
  );

const httpServer = 'src/http/server/';

/** Routes use the server, never the other way round. */
export const theServerKnowsNoRoutes: LayoutRule = (modules) =>
  product(modules)
    .filter(({ path }) => path.startsWith(httpServer))
    .flatMap(({ path, imports }) =>
      imports
        .filter((target) => target.startsWith('src/http/routes/'))
        .map((target) => `${path} imports ${target}`),
    );

/** Each speaks to its own clients; what two of them need lies in `access`, `audit` and `query`. */
const frontEnds = new Set(['http', 'pgwire', 'console']);

export const frontEndsAreApart: LayoutRule = (modules) =>
  product(modules)
    .filter(({ path }) => frontEnds.has(unitOf(path)))
    .flatMap(({ path, imports }) =>
      imports
        .filter((target) => frontEnds.has(unitOf(target)) && unitOf(target) !== unitOf(path))
        .map((target) => `${path} imports ${target}`),
    );

/** Who may do what is decided behind the gate. */
const policyFiles = new Set(['src/auth/policy.ts', 'src/auth/authorizer.ts', 'src/auth/privilege-index.ts']);

export const frontEndsHoldNoPolicy: LayoutRule = (modules) =>
  product(modules)
    .filter(({ path }) => frontEnds.has(unitOf(path)))
    .flatMap(({ path, imports }) =>
      imports.filter((target) => policyFiles.has(target)).map((target) => `${path} imports ${target}`),
    );

/** The way to the parser and the translator: 110 files, which take 80 ms of CPU to load. */
const translating = new Set(['src/sql/translation/translation-task.ts', 'src/sql/syntax/parse.ts']);

export const onlyThreadsTranslate: LayoutRule = (modules) =>
  product(modules)
    .filter(({ path }) => !['sql', 'workers'].includes(unitOf(path)))
    .flatMap(({ path, imports }) =>
      imports
        .filter((target) => translating.has(target))
        .map((target) => `${path} loads the translator: ${target}`),
    );

const pureUnits = new Set(['decode', 'sql', 'columnar', 'model']);
const isPure = (path: string): boolean => pureUnits.has(unitOf(path)) || path === 'src/auth/policy.ts';
/** Node's modules for the outside world. `zlib` and `buffer` only compute and are not among them. */
const outsideWorld =
  /^(node:)?(fs|net|http|https|http2|tls|dgram|dns|child_process|cluster|worker_threads)(\/|$)/;

export const pureFoldersStayPure: LayoutRule = (modules) =>
  product(modules)
    .filter((module) => isPure(module.path))
    .flatMap((module) =>
      module.packages
        .filter((name) => outsideWorld.test(name))
        .map((name) => `${module.path} is pure and imports ${name}`),
    );

const entries = new Set([
  'src/main.ts',
  'bench/main.ts',
  'bench/soak.ts',
  'bench/torture.ts',
  'bench/fuzz.ts',
  'bench/docs.ts',
  // What browsers load, and what builds that.
  'src/console/main.tsx',
  'src/console/vite.config.ts',
  // A program that tests start.
  'test/support/clickhouse/clickhouse-http.ts',
]);
/** Packages that browsers get are built into the console; nothing of Node.js is there. */
export const theConsoleRunsInBrowsers: LayoutRule = (modules) =>
  product(modules)
    .filter(({ path }) => unitOf(path) === 'console' && path !== 'src/console/vite.config.ts')
    .flatMap(({ path, packages }) =>
      packages.filter((name) => name.startsWith('node:')).map((name) => `${path} imports ${name}`),
    );

const isEntry = (path: string): boolean => entries.has(path) || path.startsWith('workers/');

export const noDeadFiles: LayoutRule = (modules) => {
  const importsOf = new Map(modules.map((module) => [module.path, module.imports]));
  const reached = new Set(modules.map((module) => module.path).filter(isEntry));
  // A set that grows while it is walked visits what was added: a breadth-first search.
  for (const path of reached) for (const target of importsOf.get(path) ?? []) reached.add(target);
  return modules
    .filter((module) => !reached.has(module.path))
    .map((module) => `${module.path} is not reached from src/main.ts or an entry of a thread`);
};

/** The width at which comments wrap; the formatter has the same for code. */
export const maxCommentColumns = 110;

/** The start of a line of a comment, and of a comment behind code. */
const comment = /^\s*(?:\/\/|\/\*|\*(?:\s|\/|$))|\s\/\/ /;

/**
 * Lines with a comment that is too wide.
 * @param files the text of each file, by its path
 */
export const commentsWrap = (files: Readonly<Record<string, string>>): string[] =>
  Object.entries(files).flatMap(([path, text]) =>
    text
      .split('\n')
      .flatMap((line, index) =>
        line.length > maxCommentColumns && comment.test(line)
          ? [`${path}:${index + 1} is a comment of ${line.length} columns`]
          : [],
      ),
  );
