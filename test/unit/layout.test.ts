import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { packageRoot } from '../support/lib/package-root.ts';
import {
  commentsWrap,
  everyFolderHasALayer,
  frontEndsAreApart,
  frontEndsHoldNoPolicy,
  importsPointOneWay,
  type LayoutRule,
  maxCommentColumns,
  namesAreUnique,
  noBarrels,
  noCycles,
  noDeadFiles,
  onlyConfigReadsTheEnvironment,
  onlyHttpKnowsItsServer,
  onlyThreadsTranslate,
  pureFoldersStayPure,
  theConsoleRunsInBrowsers,
  theServerKnowsNoRoutes,
} from '../support/source-tree/layout-rules.ts';
import { modulesFromText, readModules } from '../support/source-tree/modules.ts';

/** A rule, the smallest trees that break it, and what the rule says about each. */
interface RuleCase {
  readonly name: string;
  readonly rule: LayoutRule;
  readonly broken: ReadonlyArray<{
    readonly files: Readonly<Record<string, string>>;
    readonly says: readonly string[];
  }>;
}

const empty = 'export const x = 1;';

const cases: readonly RuleCase[] = [
  {
    name: 'imports point one way',
    rule: importsPointOneWay,
    broken: [
      {
        files: {
          'src/clickhouse/a.ts': "import type { X } from '../ingest/b.ts';",
          'src/ingest/b.ts': empty,
        },
        says: ['src/clickhouse/a.ts imports src/ingest/b.ts'],
      },
      {
        files: {
          'src/wal/a.ts': "export const b = await import('../clickhouse/b.ts');",
          'src/clickhouse/b.ts': empty,
        },
        says: ['src/wal/a.ts imports src/clickhouse/b.ts'],
      },
      {
        files: { 'src/http/a.ts': "import '../config/c.ts';", 'src/config/c.ts': "import '../wal/w.ts';" },
        says: ['src/config/c.ts imports src/wal/w.ts', 'src/http/a.ts imports src/config/c.ts'],
      },
      {
        files: { 'workers/a.ts': "import '../src/wal/b.ts';", 'src/wal/b.ts': empty },
        says: ['workers/a.ts imports src/wal/b.ts'],
      },
      {
        files: {
          'src/console/a.ts': "import '../lib/l.ts';\nimport type { M } from '../model/m.ts';",
          'src/http/b.ts': "import '../console/a.ts';",
          'src/lib/l.ts': empty,
          'src/model/m.ts': empty,
        },
        says: ['src/console/a.ts imports src/lib/l.ts', 'src/http/b.ts imports src/console/a.ts'],
      },
      {
        files: { 'src/lib/a.ts': "let x: import('../app/a.ts').App;", 'src/app/a.ts': empty },
        says: ['src/lib/a.ts imports src/app/a.ts'],
      },
    ],
  },
  {
    name: 'every folder has a layer',
    rule: everyFolderHasALayer,
    broken: [{ files: { 'src/misc/a.ts': empty }, says: ['src/misc/a.ts: "misc" has no layer'] }],
  },
  {
    name: 'no two files have the same name',
    rule: namesAreUnique,
    broken: [
      {
        files: { 'src/http/settings.ts': empty, 'src/sql/a.ts': empty, 'src/sql/settings.ts': empty },
        says: ['src/sql/settings.ts has the name of src/http/settings.ts'],
      },
      {
        files: { 'src/lib/watchdog.ts': empty, 'workers/watchdog.ts': empty },
        says: ['workers/watchdog.ts has the name of src/lib/watchdog.ts'],
      },
    ],
  },
  {
    name: 'no import cycles, type imports included',
    rule: noCycles,
    broken: [
      {
        files: {
          'src/wal/a.ts': "import type { B } from './b.ts';",
          'src/wal/b.ts': "export * from './c.ts';",
          'src/wal/c.ts': "import { a } from './a.ts';",
        },
        says: ['src/wal/a.ts → src/wal/b.ts → src/wal/c.ts → src/wal/a.ts'],
      },
    ],
  },
  {
    name: 'no barrel files',
    rule: noBarrels,
    broken: [
      {
        files: {
          'src/wal/all.ts': "import { a } from './a.ts';\nexport { a };\nexport * from './b.ts';",
          'src/lib/index.ts': empty,
        },
        says: ['src/lib/index.ts only passes on other files', 'src/wal/all.ts only passes on other files'],
      },
    ],
  },
  {
    name: 'only config reads the environment and the command line',
    rule: onlyConfigReadsTheEnvironment,
    broken: [
      {
        files: {
          'src/lib/a.ts': "// process.env\nexport const a = process.env['A'];",
          'src/lib/b.ts': 'export const b = globalThis.process.argv;',
          'src/lib/c.ts': 'const { env } = process;',
          'src/lib/d.ts': "import { env } from 'node:process';",
          'src/lib/e.ts': "export const e = process['env'];",
          'src/lib/fine.ts': 'process.exitCode = 1; export const pid = process.pid;',
        },
        says: [
          'src/lib/a.ts:2 reads the environment',
          'src/lib/b.ts:1 reads the environment',
          'src/lib/c.ts:1 reads the environment',
          'src/lib/d.ts:1 reads the environment',
          'src/lib/e.ts:1 reads the environment',
        ],
      },
    ],
  },
  {
    name: 'only http/server knows the HTTP library',
    rule: onlyHttpKnowsItsServer,
    broken: [
      {
        files: {
          'src/app/a.ts': "import type { App } from 'uWebSockets.js';",
          'src/http/routes/a.ts': "import 'uWebSockets.js';",
          'src/http/server/a.ts': "import 'uWebSockets.js';",
        },
        says: ['src/app/a.ts imports uWebSockets.js', 'src/http/routes/a.ts imports uWebSockets.js'],
      },
    ],
  },
  {
    name: 'only threads load the translator of SQL',
    rule: onlyThreadsTranslate,
    broken: [
      {
        files: {
          'src/query/a.ts': "import { run } from '../sql/translation/translation-task.ts';",
          'src/sql/translation/translation-task.ts': "import '../syntax/parse.ts';",
          'src/sql/syntax/parse.ts': empty,
          'workers/translate.ts': "import '../src/sql/translation/translation-task.ts';",
        },
        says: ['src/query/a.ts loads the translator: src/sql/translation/translation-task.ts'],
      },
    ],
  },
  {
    name: 'the HTTP server knows no routes',
    rule: theServerKnowsNoRoutes,
    broken: [
      {
        files: { 'src/http/server/a.ts': "import '../routes/b.ts';", 'src/http/routes/b.ts': empty },
        says: ['src/http/server/a.ts imports src/http/routes/b.ts'],
      },
    ],
  },
  {
    name: 'front ends do not import each other',
    rule: frontEndsAreApart,
    broken: [
      {
        files: {
          'src/http/a.ts': "import '../pgwire/b.ts';",
          'src/pgwire/b.ts': "import type { A } from '../http/c.ts';",
          'src/http/c.ts': empty,
        },
        says: ['src/http/a.ts imports src/pgwire/b.ts', 'src/pgwire/b.ts imports src/http/c.ts'],
      },
    ],
  },
  {
    name: 'front ends hold no policy',
    rule: frontEndsHoldNoPolicy,
    broken: [
      {
        files: {
          'src/http/routes/a.ts': "import { decide } from '../../auth/policy.ts';",
          'src/auth/policy.ts': empty,
        },
        says: ['src/http/routes/a.ts imports src/auth/policy.ts'],
      },
    ],
  },
  {
    name: 'decoding, SQL, the model and the policy do not touch the outside world',
    rule: pureFoldersStayPure,
    broken: [
      {
        files: {
          'src/decode/a.ts': "import 'node:zlib';\nimport { readFile } from 'node:fs/promises';",
          'src/sql/b.ts': "export const net = await import('net');",
          'src/auth/policy.ts': "import type { Server } from 'node:http';",
        },
        says: [
          'src/auth/policy.ts is pure and imports node:http',
          'src/decode/a.ts is pure and imports node:fs/promises',
          'src/sql/b.ts is pure and imports net',
        ],
      },
    ],
  },
  {
    name: 'the console runs in browsers',
    rule: theConsoleRunsInBrowsers,
    broken: [
      {
        files: { 'src/console/a.ts': "import 'node:fs';\nimport 'preact';" },
        says: ['src/console/a.ts imports node:fs'],
      },
    ],
  },
  {
    name: 'no dead files',
    rule: noDeadFiles,
    broken: [
      {
        files: {
          'src/main.ts': "import './app/a.ts';",
          'src/app/a.ts': "import type { A } from '../lib/used.ts';",
          'src/lib/used.ts': empty,
          'src/lib/unused.ts': "import './used.ts';",
          'workers/decode.ts': empty,
        },
        says: ['src/lib/unused.ts is not reached from src/main.ts or an entry of a thread'],
      },
    ],
  },
];

const tree = readModules(packageRoot());

test('the tree is read', () => {
  const paths = tree.map((module) => module.path);
  expect(paths).toContain('src/errors.ts');
  expect(tree.find((module) => module.path === 'src/catalog/catalog.ts')?.imports).toContain(
    'src/model/dataset.ts',
  );
});

describe.each(cases)('$name', ({ rule, broken }) => {
  test('in this tree', () => {
    expect(rule(tree)).toEqual([]);
  });

  test.each(broken)('breaking it is seen: $says', ({ files, says }) => {
    expect(rule(modulesFromText(files)).toSorted()).toEqual(says);
  });
});

describe('comments wrap', () => {
  test('in this tree', () => {
    const files = ['src', 'workers', 'bench', 'test'].flatMap((folder) =>
      readdirSync(join(packageRoot(), folder), { recursive: true, encoding: 'utf8' })
        .filter((name) => /\.(?:tsx?|mjs)$/.test(name))
        .map((name) => join(folder, name)),
    );
    expect(files).toContain('src/errors.ts');
    const texts = files.map((path) => [path, readFileSync(join(packageRoot(), path), 'utf8')] as const);
    expect(commentsWrap(Object.fromEntries(texts))).toEqual([]);
  });

  test('a wide one is seen, whatever its kind, and nothing else', () => {
    const wide = 'x'.repeat(maxCommentColumns - 2);
    const fits = 'x'.repeat(maxCommentColumns - 3);
    const lines = [
      `/* ${wide}`,
      ` * ${wide}`,
      `   ${wide} */`,
      `// ${wide}`,
      `const a = 1; // ${wide}`,
      `/* ${fits}`,
      `// ${fits}`,
      `const a = '${wide}';`,
      `const a = 'https://${wide}';`,
    ];
    const found = commentsWrap({ 'src/a.ts': lines.join('\n') });
    expect(found.map((line) => line.split(' ')[0])).toEqual([
      'src/a.ts:1',
      'src/a.ts:2',
      'src/a.ts:4',
      'src/a.ts:5',
    ]);
  });
});
