import { readVersion } from '../../src/lib/version.ts';
import { apiReference } from './api-reference.ts';
import { documentedRoutes } from './documented-routes.ts';
import { openApiDocument } from './openapi.ts';

/** The reference of the API: the text of each file by its path in the repository. */
export function apiFiles(): Readonly<Record<string, string>> {
  const routes = documentedRoutes();
  const document = openApiDocument(routes, readVersion());
  return {
    'docs/reference/openapi.json': `${JSON.stringify(document, null, 2)}\n`,
    'docs/reference/api.md': apiReference(routes, document),
  };
}
