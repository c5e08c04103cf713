import { writeFileSync } from 'node:fs';
import { Service } from '../test/support/service/service.ts';
import { apiFiles } from './reference/api-files.ts';
import { configurationReference } from './reference/configuration-reference.ts';
import { errorsReference } from './reference/errors-reference.ts';
import { metricsReference } from './reference/metrics-reference.ts';
import { sqlReference } from './reference/sql-reference.ts';

/** `npm run docs`: writes the pages of `docs/reference` that are made from the code. */
// Listening for SQL clients, too, whose metrics would be missing otherwise.
const service = await Service.start({ env: { MILLRACE_PG_ADDR: '127.0.0.1:0' } });
try {
  const pages = {
    ...apiFiles(),
    'docs/reference/configuration.md': configurationReference(),
    'docs/reference/errors.md': errorsReference(),
    'docs/reference/metrics.md': metricsReference(await service.metrics()),
    'docs/reference/sql.md': sqlReference(),
  };
  for (const [path, text] of Object.entries(pages)) writeFileSync(path, text);
} finally {
  await service.dispose();
}
