/** Every page of the documentation with commands is followed, step by step, against a real service. */
import { spawnSync } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { metricsReference } from '../../bench/reference/metrics-reference.ts';
import { DocumentedPage, sectionsOf, showsAs, stepsOf } from '../support/docs/documented-page.ts';
import { markdownPages, readPage } from '../support/docs/markdown-pages.ts';
import { onPath } from '../support/lib/child.ts';
import { sayIfSkipped } from '../support/lib/skipped.ts';
import { collectorProblem } from '../support/peers/collector.ts';
import { sqlClientPrograms } from '../support/peers/sql-clients.ts';
import { authorization, Service } from '../support/service/service.ts';

const sqlClients = sqlClientPrograms();

/**
 * Why what a page or a section requires is not there: a program, `python3:name` for a module of Python, or
 * `sql-client:name` for one of the SQL clients of the tests.
 */
function absence(required: string): string | undefined {
  if (required === 'otelcol-contrib') return collectorProblem();
  const [name = '', module] = required.split(':');
  if (module === undefined) return onPath(name) ? undefined : `there is no ${name} on the PATH`;
  if (name === 'sql-client') {
    const client = sqlClients.find(({ id }) => id === module);
    if (client === undefined) throw new Error(`no test has an SQL client ${module}`);
    return client.problem;
  }
  const { status } = spawnSync('python3', ['-c', `import ${module}`], { stdio: 'ignore' });
  return status === 0 ? undefined : `Python has no ${module}`;
}

const pages = markdownPages().filter((path) => stepsOf(readPage(path)).length > 0);

async function get<T>(url: string, path: string): Promise<T> {
  const reply = await fetch(url + path, { headers: { authorization, 'x-p-tenant': 'default' } });
  expect(reply.status, path).toBe(200);
  return (await reply.json()) as T;
}

/** Limits and retentions that commands have set and not taken back. */
async function leftovers(url: string): Promise<string[]> {
  const unlimited = 'unlimited';
  const tenant = await get<Record<string, unknown>>(url, '/api/v1/tenants/default/limits');
  const left = [tenant['tenantIngestBytesPerSecond'], tenant['datasetIngestBytesPerSecond']].every(
    (rate) => rate === unlimited,
  )
    ? []
    : [`the tenant has limits: ${JSON.stringify(tenant)}`];
  for (const { name } of await get<ReadonlyArray<{ name: string }>>(url, '/api/v1/logstream')) {
    const retention = await get<readonly unknown[]>(url, `/api/v1/logstream/${name}/retention`);
    if (retention.length > 0) left.push(`${name} has a retention`);
    const limits = await get<Record<string, unknown>>(url, `/api/v1/logstream/${name}/limits`);
    if (limits['datasetIngestBytesPerSecond'] !== unlimited) left.push(`${name} has limits`);
  }
  return left;
}

describe.each(pages)('%s', (path) => {
  const { requires, sections } = sectionsOf(readPage(path));
  const problem = ['curl', ...requires].map(absence).find((reason) => reason !== undefined);
  sayIfSkipped(`the commands of ${path}`, problem);

  describe.skipIf(problem !== undefined)('followed', () => {
    let page: DocumentedPage;
    beforeAll(async () => {
      page = await DocumentedPage.open(path);
    });
    afterAll(() => page?.dispose());

    for (const section of sections) {
      const missing = section.requires.map(absence).find((reason) => reason !== undefined);
      sayIfSkipped(`the commands of ${path} below "${section.title}"`, missing);
      test.skipIf(missing !== undefined)(`its commands print what it shows: ${section.title}`, async () => {
        for (const step of section.steps) await page.follow(step);
      });
    }

    test('it leaves no limit and no retention on datasets of its reader', async () => {
      expect(await leftovers(page.service.url)).toEqual([]);
    });
  });
});

describe('docs/reference/metrics.md', () => {
  let service: Service;
  beforeAll(async () => {
    service = await Service.start({ env: { MILLRACE_PG_ADDR: '127.0.0.1:0' } });
  });
  afterAll(() => service?.dispose());

  test('names the metrics of a running service (npm run docs)', async () => {
    expect(readPage('docs/reference/metrics.md')).toBe(metricsReference(await service.metrics()));
  });
});

describe('what is printed is compared with what is shown', () => {
  test.each([
    ['the same', '{"a":1}', '{"a":1}\n', true],
    ['another value', '{"a":1}', '{"a":2}\n', false],
    ['a part left out', '{"a":1,…}', '{"a":1,"b":2}\n', true],
    ['lines left out', '[\n…\n]', '[\n1\n2\n]\n', true],
    ['no lines where some are left out', '[\n…\n]', '[\n]\n', true],
    ['a line too many', '[\n1\n]', '[\n1\n2\n]\n', false],
    ['a line too few', '[\n1\n2\n]', '[\n1\n]\n', false],
    ['a line for each row', '[\n{"a":"}, {"},\n{"b":[1]}\n]', '[{"a":"}, {"},{"b":[1]}]\n', true],
    ['another row', '[\n{"a":1}\n]', '[{"a":2}]\n', false],
    ['no row', '[\n]', '[]\n', true],
    ['times', '"2026-01-02T03:04:05Z"', '"2027-11-12T13:14:15.123Z"', true],
    ['a dot is a dot', 'a.b', 'axb', false],
  ])('%s', (_, shown, printed, same) => {
    expect(showsAs(shown, printed)).toBe(same);
  });
});
