import { send } from './api-client.ts';

export const downloadFormats = ['csv', 'ndjson', 'parquet'] as const;
export type DownloadFormat = (typeof downloadFormats)[number];

/**
 * Fetches the whole result of a query and lets the browser save it.
 * @throws ServiceError, or an AbortError
 */
export async function download(
  sql: string,
  format: DownloadFormat,
  name: string,
  signal?: AbortSignal,
): Promise<void> {
  const response = await send(`api/v1/query?format=${format}`, {
    method: 'POST',
    body: { query: sql },
    signal,
  });
  save(await response.blob(), `${name}.${format}`);
}

function save(blob: Blob, name: string): void {
  const url = URL.createObjectURL(blob);
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  // The browser has read the address by then.
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
