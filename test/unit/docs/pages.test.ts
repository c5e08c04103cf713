import { existsSync, readdirSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { expect, test } from 'vitest';
import { optionGroups } from '../../../src/config/config.ts';
import { variablesOf } from '../../../src/config/option.ts';
import { stepsOf } from '../../support/docs/documented-page.ts';
import { anchorsOf, fencesOf, linksOf, markdownPages, readPage } from '../../support/docs/markdown-pages.ts';
import { packageRoot } from '../../support/lib/package-root.ts';

const pages = markdownPages();
const isExternal = (target: string): boolean => /^[a-z][a-z0-9+.-]*:/i.test(target);

/** Links of a page that lead nowhere. */
function brokenLinks(path: string, text: string): string[] {
  return linksOf(text)
    .filter((target) => !isExternal(target))
    .filter((target) => {
      const [file = '', anchor] = target.split('#');
      const there = file === '' ? path : join(dirname(path), decodeURI(file));
      if (file !== '' && !existsSync(join(packageRoot(), there))) return true;
      if (anchor === undefined || !there.endsWith('.md')) return false;
      return !anchorsOf(there === path ? text : readPage(there)).has(anchor);
    });
}

test.each(pages)('every link of %s leads somewhere', (path) => {
  expect(brokenLinks(path, readPage(path))).toEqual([]);
});

test('a link to a file or a heading that is not there is seen', () => {
  const text =
    '# A b: `c`\n[1](#a-b-c) [2](#a) [3](LICENSE) [4](NOTHING.md) [5](README.md#nothing-of-the-kind)';
  expect(brokenLinks('HERE.md', text)).toEqual(['#a', 'NOTHING.md', 'README.md#nothing-of-the-kind']);
});

const documentation = pages.filter((path) => path === 'README.md' || path.startsWith('docs/'));

test.each(documentation)('every shell block of %s is run by a test, or says why not', (path) => {
  const text = readPage(path);
  const run = new Set(stepsOf(text).map(({ line }) => line));
  const silent = fencesOf(text)
    .filter(({ language }) => ['sh', 'bash', 'console', 'shell'].includes(language))
    .filter(({ line, comment }) => !run.has(line) && comment?.startsWith('not run: ') !== true);
  expect(silent.map(({ line, text: code }) => `line ${line}: ${code}`)).toEqual([]);
});

test('every page of the documentation can be reached from the README', () => {
  const reached = new Set(['README.md']);
  // A set that grows while it is walked visits what was added.
  for (const path of reached) {
    for (const target of linksOf(readPage(path)).filter((link) => !isExternal(link))) {
      const there = relative('', join(dirname(path), target.split('#')[0] ?? ''));
      if (there.endsWith('.md') && pages.includes(there)) reached.add(there);
    }
  }
  expect(documentation.filter((path) => !reached.has(path))).toEqual([]);
});

/** Everything that people read or install, with what names variables and metrics. */
const namingFiles = [
  ...documentation,
  'SECURITY.md',
  'docker-compose.yml',
  ...readdirSync(join(packageRoot(), 'deploy')).map((name) => `deploy/${name}`),
];

test.each(namingFiles)('%s names no variable and no metric that does not exist', (path) => {
  const text = readPage(path);
  const variables = new Set(Object.values(optionGroups).flat().flatMap(variablesOf));
  // The address of the service and an API key, in commands.
  const ofCommands = ['MILLRACE_KEY'];
  const unknownVariables = [...text.matchAll(/\bMILLRACE_[A-Z_]+\b/g)]
    .map(([name]) => name)
    .filter((name) => !variables.has(name) && !ofCommands.includes(name));
  const metrics = readPage('docs/reference/metrics.md');
  // A relation of SQL.
  const relations = ['millrace_audit'];
  const unknownMetrics = [...text.matchAll(/\bmillrace_[a-z_]+\b/g)]
    .map(([name]) => name.replace(/_(bucket|sum|count)$/, ''))
    .filter((name) => !metrics.includes(`\`${name}\``) && !relations.includes(name));
  expect([...unknownVariables, ...unknownMetrics]).toEqual([]);
});

test('the README has 200 lines at most', () => {
  expect(readPage('README.md').split('\n').length - 1).toBeLessThanOrEqual(200);
});
