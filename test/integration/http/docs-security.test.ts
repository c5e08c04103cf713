import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MetadataLog } from '../../../src/metadata/metadata-log.ts';
import { openTestStore, type TestStore } from '../../support/clickhouse/test-store.ts';
import { fencesOf, readPage } from '../../support/docs/markdown-pages.ts';
import { onPath } from '../../support/lib/child.ts';
import { sayIfSkipped } from '../../support/lib/skipped.ts';
import { basic, type IdentityNode, startIdentityNode } from '../identity/identity-node.ts';

/** What is to be typed under a heading of a page, up to the next one. */
function shellOf(path: string, heading: string): string {
  const page = readPage(path);
  const from = page.indexOf(`\n${heading}\n`);
  if (from < 0) throw new Error(`${path} has no "${heading}"`);
  const [text = ''] = page.slice(from + heading.length + 2).split(/^#{2,6} /m);
  const blocks = fencesOf(text)
    .filter(({ language }) => language === 'sh')
    .map((fence) => fence.text);
  if (blocks.length === 0) throw new Error(`"${heading}" has no commands`);
  return blocks.join('\n');
}

/**
 * Runs it as a user would, except that a refusal ends it. @returns what the commands printed, line by line
 */
async function run(shell: string, node: IdentityNode): Promise<string[]> {
  const strict = 'set -eu\ncurl() { command curl --silent --show-error --fail-with-body "$@"; echo; }\n';
  const env = { ...process.env, MILLRACE: node.url, AUTH: 'admin:sesame' };
  const { stdout } = await promisify(execFile)('bash', ['-c', strict + shell], { env });
  return stdout.split('\n').filter((line) => line !== '');
}

const problem = onPath('curl') ? undefined : 'there is no curl';
sayIfSkipped('the commands of the documentation', problem);

describe.skipIf(problem !== undefined)('the commands of the documentation', () => {
  let store: TestStore;
  const nodes: IdentityNode[] = [];
  const start = async (multiTenant: boolean): Promise<IdentityNode> => {
    const node = await startIdentityNode(store.store, `node ${nodes.length}`, { multiTenant });
    nodes.push(node);
    await node.identityStore.refresh();
    return node;
  };
  beforeAll(async () => {
    store = await openTestStore();
    await new MetadataLog(store.store, 'node').prepare();
  });
  afterAll(async () => {
    for (const node of nodes) await node.close();
    await store?.close();
  });

  it('on security make roles, a key and a user', async () => {
    const node = await start(false);
    const printed = await run(shellOf('docs/security.md', '## Roles and keys'), node);
    const key = JSON.parse(printed.at(-2) ?? '') as { keyName: string; apiKey: string; roles: string[] };
    expect(key).toMatchObject({ keyName: 'app shipper', roles: ['ship-app'] });
    const ship = (dataset: string) =>
      fetch(`${node.url}/api/v1/ingest`, {
        method: 'POST',
        body: Buffer.from('[{}]'),
        headers: { 'x-api-key': key.apiKey, 'x-p-stream': dataset },
      });
    expect([(await ship('app')).status, (await ship('other')).status]).toEqual([200, 403]);
    const alice = basic('alice', printed.at(-1) ?? '');
    expect((await node.send('GET', '/api/v1/about', undefined, alice)).status).toBe(200);
    expect((await node.send('POST', '/api/v1/ingest', [{}], alice)).status).toBe(403);
  });

  it('on tenants make one with an owner', async () => {
    const node = await start(true);
    const printed = await run(shellOf('docs/tenants.md', '## Create a tenant'), node);
    const alice = { ...basic('alice', printed.at(-1) ?? ''), 'x-p-tenant': 'acme' };
    expect(JSON.parse(printed[0] ?? '')).toMatchObject({ name: 'acme' });
    expect(await node.json('GET', '/api/v1/user', undefined, alice)).toEqual([
      { id: 'alice', method: 'native' },
    ]);
  });
});
