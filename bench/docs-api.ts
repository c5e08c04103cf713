import { mkdirSync, writeFileSync } from 'node:fs';
import { apiFiles } from './reference/api-files.ts';

/** `npm run docs:api`: writes the reference of the API. */
mkdirSync('docs/reference', { recursive: true });
for (const [path, text] of Object.entries(apiFiles())) writeFileSync(path, text);
