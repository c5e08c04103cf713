import { readFileSync, writeFileSync } from 'node:fs';
import { sqlDocumentation } from '../src/sql/documentation.ts';

/** `npm run docs:sql`: writes the tables of what SQL understands into the README. */
const begin = '<!-- npm run docs:sql -->\n';
const end = '\n<!-- /docs:sql -->';

const path = 'README.md';
const readme = readFileSync(path, 'utf8');
const [before, rest = ''] = readme.split(begin);
const [, after] = rest.split(end);
if (before === undefined || after === undefined) throw new Error(`${path} has no place for the tables`);
writeFileSync(path, `${before}${begin}${sqlDocumentation()}${end}${after}`);
