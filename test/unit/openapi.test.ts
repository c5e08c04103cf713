import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Validator } from '@seriousme/openapi-schema-validator';
import { expect, it } from 'vitest';
import { apiFiles } from '../../bench/reference/api-files.ts';
import { packageRoot } from '../support/lib/package-root.ts';

const files = apiFiles();

it.each(Object.entries(files))('%s is what the code says; `npm run docs` writes it', (path, text) => {
  expect(readFileSync(join(packageRoot(), path), 'utf8')).toBe(text);
});

it('is valid OpenAPI 3.1', async () => {
  const validator = new Validator();
  const document: unknown = JSON.parse(files['docs/reference/openapi.json'] ?? '');
  const { valid, errors } = await validator.validate(document as Record<string, unknown>);
  expect([valid, errors]).toEqual([true, undefined]);
  expect(validator.version).toBe('3.1');
  // Each `$ref` leads somewhere.
  validator.resolveRefs();
});
