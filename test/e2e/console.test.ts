/** The console in a real browser, against the built service. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { BreakableProxy } from '../support/http/breakable-proxy.ts';
import { packageRoot } from '../support/lib/package-root.ts';
import { sayIfSkipped } from '../support/lib/skipped.ts';
import { authorization, Service } from '../support/service/service.ts';

const executablePath = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(
  (path) => existsSync(path),
);
const problem =
  executablePath === undefined ? 'Chromium is not installed (apt-get install chromium)' : undefined;
sayIfSkipped('The console in a browser', problem);

/** Kept by CI for people to look at. */
const screenshots = join(packageRoot(), 'dist/screenshots');
const axeSource = readFileSync(join(packageRoot(), 'node_modules/axe-core/axe.min.js'), 'utf8');
const rules = ['wcag2a', 'wcag2aa', 'wcag21aa', 'wcag22aa'];
const hostile = [
  '<img src=x onerror="document.title=1">',
  `'; DROP TABLE app; --`,
  '"><script>alert(1)</script>',
  'javascript:alert(1)',
];

let browser: Browser;
let service: Service;
/** What a page must never do; each test ends with none of it. */
const faults: string[] = [];
const contexts: BrowserContext[] = [];
/** Where the service is, for the browser. */
const ownOrigins = new Set<string>();

interface Look {
  readonly colorScheme?: 'light' | 'dark';
  readonly width?: number;
  /** Only for axe-core, which is a script of its own. */
  readonly bypassCSP?: boolean;
}

async function open({ colorScheme = 'light', width = 1280, bypassCSP = false }: Look = {}): Promise<Page> {
  const context = await browser.newContext({
    colorScheme,
    bypassCSP,
    viewport: { width, height: 800 },
    timezoneId: 'Europe/Berlin',
    locale: 'en-GB',
    reducedMotion: 'reduce',
    acceptDownloads: true,
  });
  contexts.push(context);
  const page = await context.newPage();
  page.setDefaultTimeout(60_000);
  page.on('pageerror', (error) => faults.push(`page error: ${error.message}`));
  page.on('console', (message) => {
    // The browser says of each refusal that it was one; the tests ask for some.
    if (message.type() === 'error' && !/status of 4\d\d/.test(message.text())) faults.push(message.text());
  });
  page.on('request', (request) => {
    const url = new URL(request.url());
    const isOwn = ownOrigins.has(url.origin) || ['blob:', 'data:'].includes(url.protocol);
    if (!isOwn) faults.push(`a request to ${url.href}`);
  });
  return page;
}

async function signIn(page: Page): Promise<void> {
  await page.getByLabel('User').fill(Service.credentials.username);
  await page.getByLabel('Password', { exact: true }).fill(Service.credentials.password);
  await page.keyboard.press('Enter');
  await page.getByRole('navigation', { name: 'Pages' }).waitFor();
}

async function openSignedIn(path: string, origin = service.url): Promise<Page> {
  const page = await open();
  await page.goto(`${origin}${path}`);
  await signIn(page);
  return page;
}

/** Sends events, and waits until queries see them. */
async function stored(dataset: string, events: readonly unknown[]): Promise<void> {
  const count = async () => Number((await service.query(`SELECT count(*) AS n FROM ${dataset}`))[0]?.['n']);
  const before = await count().catch(() => 0);
  await service.ingest(dataset, events);
  await expect.poll(count).toBe(before + events.length);
}

const rowsOf = (page: Page) => page.locator('.log-row');

describe.skipIf(problem !== undefined)('the console', () => {
  beforeAll(async () => {
    mkdirSync(screenshots, { recursive: true });
    service = await Service.start();
    ownOrigins.add(service.url);
    browser = await chromium.launch({
      ...(executablePath === undefined ? {} : { executablePath }),
      args: ['--no-sandbox', '--disable-dev-shm-usage'],
    });
  });
  afterEach(async () => {
    for (const context of contexts.splice(0)) await context.close();
    expect(faults.splice(0)).toEqual([]);
  });
  afterAll(async () => {
    await browser?.close();
    await service?.dispose();
  });

  test('leads from the first sign-in to the first rows, by keys alone', async () => {
    const page = await open();
    await page.goto(service.url);
    await page.getByLabel('User').focus();
    await page.keyboard.type(Service.credentials.username);
    await page.keyboard.press('Tab');
    await page.keyboard.type('wrong');
    await page.keyboard.press('Enter');
    await page.getByRole('alert').getByText('is not right').waitFor();
    await page.getByLabel('Password', { exact: true }).focus();
    await page.keyboard.press('Control+A');
    await page.keyboard.type(Service.credentials.password);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Send data' }).waitFor();
    await page.getByRole('button', { name: 'Make a key' }).focus();
    await page.keyboard.press('Enter');
    await page.getByTestId('new-key').waitFor();
    await page.getByText('Waiting for data').waitFor();
    const command = (await page.getByTestId('snippet').textContent()) ?? '';
    expect(command).toContain(service.url);
    execFileSync('bash', ['-c', command], { stdio: 'ignore' });
    await page.getByText('app has 2 rows').waitFor();
    await page.getByRole('link', { name: 'Explore them' }).focus();
    await page.keyboard.press('Enter');
    await rowsOf(page).nth(1).waitFor();
    await page.keyboard.press('/');
    await page.keyboard.type('level:error');
    await page.keyboard.press('Enter');
    await page.getByText('payment refused').waitFor();
    await expect.poll(() => rowsOf(page).count()).toBe(1);
    await page.getByRole('treegrid', { name: 'Rows' }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Copy JSON' }).waitFor();
    await page.keyboard.press('Escape');
    await expect.poll(() => page.getByRole('button', { name: 'Copy JSON' }).count()).toBe(0);
    // The key that was made may write this dataset, and is not good any more once it is deleted.
    expect(await page.evaluate('JSON.stringify({ ...localStorage, ...sessionStorage })')).not.toMatch(
      /[0-9a-f]{8}-[0-9a-f]{4}/,
    );
    await page.getByRole('button', { name: 'admin' }).click();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('button', { name: 'Sign in', exact: true }).waitFor();
    expect(await page.context().cookies()).toEqual([]);
  });

  test('searches, filters by a click, and finds the same after a reload and in another browser', async () => {
    const now = Date.now();
    const events = Array.from({ length: 300 }, (_, index) => ({
      level: index % 10 === 0 ? 'error' : 'info',
      message: `request ${index} took ${index} ms`,
      path: `/api/${index % 3}`,
      number: now,
    }));
    await stored('shop', events);
    const page = await openSignedIn('/explore#dataset=shop');
    await rowsOf(page).first().waitFor();
    await page.getByText('300 rows').first().waitFor();
    await page.getByLabel('Search', { exact: true }).fill('level:error');
    await page.keyboard.press('Enter');
    await page.getByText(/^30 rows in/).waitFor();
    await rowsOf(page).first().click();
    await page.getByRole('button', { name: 'Only rows with this path' }).click();
    await page.getByText(/^10 rows in/).waitFor();
    const address = page.url();
    expect(new URL(address).hash).toContain('path');
    await page.reload();
    await page.getByText(/^10 rows in/).waitFor();
    const other = await open();
    await other.goto(address);
    await signIn(other);
    await other.getByText(/^10 rows in/).waitFor();
    // A part of the chart that is marked is the new range; a double click goes back.
    const chart = page.locator('.u-over');
    const box = await chart.boundingBox();
    if (box === null) throw new Error('there is no chart');
    await page.mouse.move(box.x + box.width * 0.8, box.y + 20);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width - 2, box.y + 20, { steps: 4 });
    await page.mouse.up();
    await expect.poll(() => new URL(page.url()).hash).toContain('from=');
    await chart.dblclick();
    await expect.poll(() => new URL(page.url()).hash).not.toContain('from=20');
    // What is wrong with a search is said beside it.
    await page.getByLabel('Search', { exact: true }).fill('nope:1');
    await page.keyboard.press('Enter');
    await page.getByRole('alert').getByText('there is no field "nope"').waitFor();
  });

  test('shows texts of telemetry as texts, and a megabyte of it in parts', async () => {
    const long = `begin ${'x'.repeat(1_000_000)} end`;
    await stored('hostile', [
      ...hostile.map((message) => ({ message, level: message, '<b>field</b>': message })),
      { message: long, level: 'info' },
    ]);
    const page = await openSignedIn('/explore#dataset=hostile');
    await rowsOf(page).nth(4).waitFor();
    for (const text of hostile) {
      await page.getByRole('gridcell', { name: text, exact: true }).last().waitFor();
    }
    expect(await page.locator('.page img, .page script').count()).toBe(0);
    expect(await page.locator('.page a[href^="javascript"]').count()).toBe(0);
    const longRow = rowsOf(page).filter({ hasText: 'begin xxx' });
    expect(((await longRow.textContent()) ?? '').length).toBeLessThan(3000);
    await longRow.click();
    await page.getByRole('button', { name: /Show all 1,000,010 characters/ }).click();
    await expect.poll(() => page.evaluate(`document.body.textContent.includes('xx end')`)).toBe(true);
  });

  test('live rows come as they arrive, whatever time they carry, and wait while somebody reads', async () => {
    await stored('live', [{ message: 'first', level: 'info' }]);
    const page = await openSignedIn('/explore#dataset=live');
    await rowsOf(page).first().waitFor();
    await page.getByLabel('Search', { exact: true }).fill('level:info');
    await page.keyboard.press('Enter');
    await page.getByText(/^1 rows in/).waitFor();
    await page.getByRole('button', { name: 'Live' }).click();
    await page.getByText(/^Live: 0 rows/).waitFor();
    await stored('live', [
      { message: 'second', level: 'info' },
      { message: 'not of the search', level: 'error' },
    ]);
    await rowsOf(page).filter({ hasText: 'second' }).waitFor();
    await service.ingest('live', [{ message: 'late', level: 'info', p_timestamp: '2020-01-01T00:00:00Z' }]);
    await rowsOf(page).filter({ hasText: 'late' }).waitFor();
    // The last that arrived is the first of the list, however old it is.
    expect(await rowsOf(page).locator('.content').allTextContents()).toEqual(['late', 'second']);
    // A field that nobody knew when Live began is there at once.
    await rowsOf(page).first().click();
    await service.ingest('live', [{ message: 'third', level: 'info', region: 'north' }]);
    const waiting = page.getByRole('button', { name: '1 new row' });
    await waiting.waitFor();
    expect(await rowsOf(page).filter({ hasText: 'third' }).count()).toBe(0);
    await waiting.click();
    await rowsOf(page).filter({ hasText: 'third' }).click();
    await page.getByText('north', { exact: true }).waitFor();
  });

  test('Live goes on where it was after a lost connection and in a hidden page, and says why it ends', async () => {
    await stored('resumed', [{ message: 'before', level: 'info' }]);
    const proxy = await BreakableProxy.start(service.port);
    onTestFinished(() => proxy.stop());
    ownOrigins.add(proxy.url);
    const page = await openSignedIn('/explore#dataset=resumed', proxy.url);
    await rowsOf(page).first().waitFor();
    await page.getByRole('button', { name: 'Live' }).click();
    await page.getByText(/^Live: 0 rows/).waitFor();
    const shown = () => rowsOf(page).locator('.content').allTextContents();
    const tails = () => service.metric('millrace_tail_streams');
    // No row has come yet: the place where it began is known all the same.
    const show = (state: 'hidden' | 'visible') =>
      page.evaluate(`Object.defineProperty(document, 'visibilityState', { value: '${state}', configurable: true });
        document.dispatchEvent(new Event('visibilitychange'))`);
    await show('hidden');
    await expect.poll(tails).toBe(0);
    await stored('resumed', [{ message: 'while hidden', level: 'info' }]);
    await show('visible');
    await expect.poll(shown).toEqual(['while hidden']);
    proxy.break();
    await page.getByText(/^Live is interrupted: 1 row/).waitFor();
    await page.getByRole('alert').getByText('Trying again').waitFor();
    await stored('resumed', [{ message: 'while away', level: 'info' }]);
    proxy.mend();
    await expect.poll(shown).toEqual(['while away', 'while hidden']);
    await page.getByText(/^Live: 2 rows/).waitFor();
    // Chromium says of each attempt that nobody answered.
    for (const fault of faults.splice(0)) expect(fault).toMatch(/net::ERR_/);
    // More than the service sends in a second.
    await service.ingest(
      'resumed',
      Array.from({ length: 700 }, (_, n) => ({ message: `of many ${n}`, level: 'info' })),
    );
    await page.getByText('200 left out: more came than Live shows').waitFor();
    await page.getByText(/^Live: 502 rows/).waitFor();
    const reply = await fetch(`${service.url}/api/v1/logstream/resumed`, {
      method: 'DELETE',
      headers: { authorization },
    });
    expect(reply.status).toBe(200);
    await page.getByText(/^Live has ended: 502 rows/).waitFor();
    await page.getByRole('alert').getByText('dataset_not_found').waitFor();
    // One tail of a page at most, and none once it is left.
    await page.goto(`${proxy.url}/explore#dataset=live`);
    await page.getByRole('button', { name: 'Live' }).click();
    await page.getByText(/^Live: 0 rows/).waitFor();
    await expect.poll(tails).toBe(1);
    await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'SQL' }).click();
    await expect.poll(tails).toBe(0);
  });

  test('runs SQL, underlines what is wrong, draws it, and saves the whole result', async () => {
    await stored('numbers', [
      { level: 'info', ms: 1 },
      { level: 'error', ms: 2 },
    ]);
    const page = await openSignedIn('/sql');
    const editor = page.getByRole('textbox', { name: 'SQL' });
    await editor.waitFor();
    const write = async (sql: string) => {
      await editor.click();
      await page.keyboard.press('Control+A');
      // Over marked text, Chromium itself would try to keep the style of that text, and the policy forbid it.
      await page.keyboard.press('Delete');
      await page.keyboard.insertText(sql);
      await page.keyboard.press('Control+Enter');
    };
    await write('SELECT level, sum(ms) AS ms, 1 AS "1", 2 AS "1" FROM numbers GROUP BY 1 ORDER BY 1');
    const grid = page.getByRole('grid', { name: 'Result' });
    await grid.getByRole('gridcell', { name: 'error' }).waitFor();
    expect(await grid.getByRole('columnheader').allTextContents()).toEqual(['#', 'level', 'ms', '1', '1']);
    await page.getByRole('button', { name: 'Chart', exact: true }).click();
    await page.getByRole('figure', { name: '2 bars' }).waitFor();
    await page.getByRole('button', { name: 'Table' }).click();
    const [saved] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'CSV' }).click(),
    ]);
    expect(readFileSync(await saved.path(), 'utf8').split('\n')).toHaveLength(4);
    await write('SELECT level,\n  nope FROM numbers');
    await page.getByRole('alert').getByText('"nope" does not exist').waitFor();
    await expect.poll(() => page.locator('.cm-lintRange-error').textContent()).toBe('nope');
    await page.getByRole('button', { name: 'Explain' }).click();
    await page.getByRole('alert').getByText('"nope" does not exist').waitFor();
  });

  test('a long result has elements for the rows in sight alone, and uses them again', async () => {
    await stored(
      'many',
      Array.from({ length: 500 }, (_, n) => ({ n })),
    );
    const page = await openSignedIn(`/sql#sql=${encodeURIComponent('SELECT n FROM many ORDER BY n')}`);
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    const rows = page.locator('.grid-row');
    await page.getByRole('gridcell', { name: '0', exact: true }).waitFor();
    const before = await rows.count();
    expect(before).toBeLessThan(60);
    await page.evaluate(`for (const row of document.querySelectorAll('.grid-row')) row.isOld = true;
      document.querySelector('.result-grid').scrollTop = 250 * 26`);
    const cell = page.getByRole('gridcell', { name: '250', exact: true });
    await cell.click();
    expect(await rows.count()).toBeLessThan(60);
    // Rows above those in sight are drawn too, which the beginning does not have.
    expect(
      await page.evaluate(`[...document.querySelectorAll('.grid-row')].filter((row) => row.isOld).length`),
    ).toBe(before);
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').getByText('251').waitFor();
  });

  test('shows each person what they may see, and nothing of it once they are gone', async () => {
    await stored('parts', [
      { team: 'red', message: 'of the red team', level: 'info' },
      { team: 'blue', message: 'of the blue team', level: 'info' },
    ]);
    const ask = async (method: string, path: string, body?: unknown): Promise<string> => {
      const reply = await fetch(service.url + path, {
        method,
        headers: { authorization, 'content-type': 'application/json' },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      expect(reply.ok, `${method} ${path}`).toBe(true);
      return reply.text();
    };
    await ask('PUT', '/api/v1/role/red', [
      { privilege: 'reader', resource: { dataset: 'parts', tag: 'team=red' } },
    ]);
    await ask('PUT', '/api/v1/role/sending', [{ privilege: 'ingestor', resource: { dataset: 'parts' } }]);
    const password = await ask('POST', '/api/v1/user/rita', ['red']);
    const page = await open();
    await page.goto(`${service.url}/explore`);
    await page.getByLabel('User').fill('rita');
    await page.getByLabel('Password', { exact: true }).fill(password);
    await page.keyboard.press('Enter');
    await rowsOf(page).filter({ hasText: 'of the red team' }).waitFor();
    expect(await page.getByLabel('Dataset').locator('option').allTextContents()).toEqual(['parts']);
    expect(await rowsOf(page).count()).toBe(1);
    await page.getByRole('link', { name: 'Send data' }).click();
    await page.getByText('rita may not make keys').waitFor();
    await page.getByRole('link', { name: 'Explore' }).click();
    await rowsOf(page).first().waitFor();
    await ask('DELETE', '/api/v1/user/rita');
    await page.getByRole('button', { name: 'Run' }).click();
    await page.getByText('Your session has ended').waitFor();

    const { apiKey } = JSON.parse(
      await ask('POST', '/api/console/v1/apikeys', { keyName: 'sender', roles: ['sending'] }),
    ) as { apiKey: string };
    const sender = await open();
    await sender.goto(`${service.url}/explore`);
    await sender.getByRole('button', { name: 'API key' }).click();
    await sender.getByLabel('API key', { exact: true }).fill(apiKey);
    await sender.keyboard.press('Enter');
    await sender.getByText('You may not read data here').waitFor();
    expect(await sender.getByRole('link', { name: 'SQL' }).count()).toBe(0);
  });

  test.each(['light', 'dark'] as const)(
    'has no violation of WCAG that axe-core finds, in %s',
    async (colorScheme) => {
      const page = await open({ colorScheme, bypassCSP: true });
      const check = async (name: string) => {
        await page.evaluate(axeSource);
        const found = await page.evaluate(async (values) => {
          const { axe } = globalThis as unknown as {
            axe: {
              run(
                options: object,
              ): Promise<{ violations: Array<{ id: string; nodes: Array<{ html: string }> }> }>;
            };
          };
          const { violations } = await axe.run({ runOnly: { type: 'tag', values } });
          return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`));
        }, rules);
        expect(found, name).toEqual([]);
        await page.screenshot({ path: join(screenshots, `${name}-${colorScheme}-1280.png`) });
        await page.setViewportSize({ width: 768, height: 800 });
        await page.screenshot({ path: join(screenshots, `${name}-${colorScheme}-768.png`) });
        expect(await page.evaluate('document.documentElement.scrollWidth'), `${name} is too wide`).toBe(768);
        await page.setViewportSize({ width: 1280, height: 800 });
      };
      await stored('shown', [
        { level: 'info', message: 'one', ms: 1 },
        { level: 'error', message: 'two', ms: 2 },
      ]);
      await page.goto(service.url);
      await page.getByLabel('User').waitFor();
      await check('sign-in');
      await signIn(page);
      await page.goto(`${service.url}/start`);
      await page.getByRole('heading', { name: 'Send data' }).waitFor();
      await check('start');
      await page.goto(`${service.url}/explore#dataset=shown`);
      await rowsOf(page).first().click();
      await page.getByRole('button', { name: 'Copy JSON' }).waitFor();
      await check('explore');
      await page.keyboard.press('t');
      await page.getByText('Last 7 days').waitFor();
      await check('explore-time');
      await page.keyboard.press('Escape');
      await page.goto(`${service.url}/sql#sql=${encodeURIComponent('SELECT level, ms FROM shown')}`);
      await page.getByRole('textbox', { name: 'SQL' }).waitFor();
      await page.getByRole('button', { name: 'Run', exact: true }).click();
      await page.getByRole('grid', { name: 'Result' }).waitFor();
      await check('sql');
      await page.getByRole('button', { name: 'Keys' }).click();
      await page.getByRole('heading', { name: 'Keys' }).waitFor();
      await check('keys');
    },
  );
});
