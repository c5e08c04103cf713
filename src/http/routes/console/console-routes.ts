import * as v from 'valibot';
import { publicRoute } from '../../server/declare-route.ts';
import { bytes } from '../../server/reply-content.ts';
import type { Route } from '../../server/route.ts';
import type { ConsoleFiles } from './console-files.ts';

/** The paths of the pages; each is the same document, which shows what its address says. */
const pages: ReadonlyArray<readonly [path: string, summary: string]> = [
  ['/explore', 'Show the console: search logs and events'],
  ['/sql', 'Show the console: SQL'],
  ['/start', 'Show the console: send the first data'],
];

const unchanged = { status: 304, description: 'The copy of the client is current (`If-None-Match`).' };

/** The files of the console. They need no credentials: what they show is asked for by the page. */
export function consoleRoutes(files: ConsoleFiles): Route[] {
  return [
    ...pages.map(([path, summary]) =>
      publicRoute({
        method: 'GET',
        path,
        permission: 'public',
        reference: {
          group: 'Console',
          summary,
          replies: [{ status: 200, description: 'The page.', content: { 'text/html': bytes } }, unchanged],
          errors: [],
        },
        handler: (request) => files.page(request),
      }),
    ),
    publicRoute({
      method: 'GET',
      path: '/assets/{file}',
      permission: 'public',
      reference: {
        group: 'Console',
        summary: 'Get a file of the console',
        details: 'The name holds a hash of the file, so that browsers keep it for a year.',
        parameter: { description: 'The name of the file.', schema: v.string() },
        replies: [
          { status: 200, description: 'A script, a style or an image.', content: { '*/*': bytes } },
          unchanged,
        ],
        errors: ['not_found'],
      },
      handler: (request) => files.asset(request.parameter, request),
    }),
    publicRoute({
      method: 'GET',
      path: '/licenses.txt',
      permission: 'public',
      reference: {
        group: 'Console',
        summary: 'Get the licences of what the console contains',
        replies: [
          { status: 200, description: 'The licences.', content: { 'text/plain': v.string() } },
          unchanged,
        ],
        errors: ['not_found'],
      },
      handler: (request) => files.licenses(request),
    }),
  ];
}
