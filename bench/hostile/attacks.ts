import { administrationAttacks } from './admin.ts';
import type { Attack } from './attack.ts';
import { httpAttacks } from './http.ts';
import { ingestAttacks } from './ingest.ts';
import { queryAttacks } from './queries.ts';
import { signInAttacks } from './signin.ts';
import { translationAttacks } from './sql.ts';

/** All attacks, by subject. */
export const attacks: Readonly<Record<string, readonly Attack[]>> = {
  translation: translationAttacks,
  ingest: ingestAttacks,
  http: httpAttacks,
  'sign-in': signInAttacks,
  queries: queryAttacks,
  administration: administrationAttacks,
};
