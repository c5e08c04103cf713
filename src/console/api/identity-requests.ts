import { send, sendForJson } from './api-client.ts';

/** The datasets that the caller may see. */
export const listDatasets = async (signal?: AbortSignal): Promise<readonly string[]> =>
  (await sendForJson<ReadonlyArray<{ name: string }>>('api/v1/logstream', { signal })).map(
    ({ name }) => name,
  );

/**
 * Makes a role that may write one dataset, and a key with it.
 * @returns the key, which is shown this once
 */
export async function createIngestKey(dataset: string): Promise<string> {
  const role = `ingest-${dataset}`;
  const privileges = [{ privilege: 'ingestor', resource: { dataset } }];
  await send(`api/v1/role/${encodeURIComponent(role)}`, { method: 'PUT', body: privileges });
  // Several people may come here for the same dataset.
  const keyName = `${role}-${crypto.randomUUID().slice(0, 8)}`;
  const { apiKey } = await sendForJson<{ apiKey: string }>('api/console/v1/apikeys', {
    method: 'POST',
    body: { keyName, roles: [role] },
  });
  return apiKey;
}
