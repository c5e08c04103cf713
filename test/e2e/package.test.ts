/** What `npm pack` makes: it holds what runs and nothing else, and `npx millrace` works from it. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { Child, removeFolder, temporaryFolder } from '../support/lib/child.ts';
import { installNode, supportedNodes } from '../support/lib/installed-node.ts';
import { packageRoot } from '../support/lib/package-root.ts';
import { sayIfSkipped } from '../support/lib/skipped.ts';

interface Packed {
  readonly filename: string;
  readonly files: ReadonlyArray<{ readonly path: string }>;
}

let folder = '';
let installed = '';
let packed: Packed;

beforeAll(() => {
  folder = temporaryFolder('package');
  // The build is there; `npm pack` would make it anew, under other tests.
  const args = ['pack', '--ignore-scripts', '--json', '--pack-destination', folder];
  const [only] = JSON.parse(
    execFileSync('npm', args, { cwd: packageRoot(), encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }),
  ) as Packed[];
  if (only === undefined) throw new Error('npm pack made nothing');
  packed = only;
  installed = join(folder, 'installed');
  mkdirSync(installed);
  writeFileSync(join(installed, 'package.json'), '{"private":true}');
  const install = ['install', '--no-audit', '--no-fund', '--prefer-offline', join(folder, packed.filename)];
  execFileSync('npm', install, { cwd: installed, stdio: 'ignore' });
}, 600_000);
afterAll(() => removeFolder(folder));

test('it holds what runs and nothing else', () => {
  const paths = packed.files.map(({ path }) => path);
  const kinds =
    /^(?:LICENSE|README\.md|package\.json|dist\/(?:src|workers)\/.*\.(?:js|wasm)|dist\/schema\/.*\.(?:sql|proto)|dist\/docs\/reference\/openapi\.json|dist\/console\/(?:index\.html|licenses\.txt|assets\/[\w-]+\.(?:js|css|svg))(?:\.br|\.gz)?)$/;
  expect(paths.filter((path) => !kinds.test(path))).toEqual([]);
  for (const path of ['dist/src/main.js', 'dist/workers/engine.js', 'dist/docs/reference/openapi.json'])
    expect(paths).toContain(path);
  for (const path of ['dist/console/index.html', 'dist/console/licenses.txt']) expect(paths).toContain(path);
});

describe.each(supportedNodes)('with Node.js %i, npx millrace', (major) => {
  const { path: node, problem } = installNode(major);
  sayIfSkipped(`The package on Node ${major}`, problem);

  test.skipIf(problem !== undefined)('starts, takes events and answers a query', async () => {
    const path = `${dirname(node)}${delimiter}${process.env['PATH'] ?? ''}`;
    const dataDir = join(folder, `data-${major}`);
    const env = { PATH: path, MILLRACE_DATA_DIR: dataDir };
    const millrace = (...args: string[]) =>
      execFileSync('npx', ['--no-install', 'millrace', ...args], {
        cwd: installed,
        env: { ...process.env, ...env },
        encoding: 'utf8',
      });
    const { version } = JSON.parse(readFileSync(join(packageRoot(), 'package.json'), 'utf8')) as {
      version: string;
    };
    expect(millrace('--version')).toBe(`millrace ${version}\n`);
    const service = await Child.start({
      name: 'millrace',
      command: 'npx',
      args: ['--no-install', 'millrace', '--http-addr', '127.0.0.1:0'],
      cwd: installed,
      env,
    });
    onTestFinished(() => service.kill('SIGKILL'));
    await service.ready(async () => service.stdout.includes('prometheus.yml'), 120_000);
    const url = readFileSync(join(dataDir, 'address'), 'utf8').trim();
    const password = readFileSync(join(dataDir, 'admin-password'), 'utf8').trim();
    const reply = await fetch(`${url}/api/v1/ingest`, {
      method: 'POST',
      headers: {
        authorization: `Basic ${Buffer.from(`admin:${password}`).toString('base64')}`,
        'x-p-stream': 'app',
        'content-type': 'application/json',
      },
      body: '[{"n":1},{"n":2}]',
    });
    expect(await reply.json()).toEqual({ accepted: 2 });
    expect(millrace('query', 'SELECT sum(n) AS total FROM app')).toBe(' total\n-------\n     3\n(1 row)\n');
    expect(millrace('health')).toContain('is ready');
    await service.stop();
  });
});
