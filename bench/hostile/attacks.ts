import { administrationAttacks } from './administration-attacks.ts';
import { alertAttacks } from './alert-attacks.ts';
import type { Attack } from './attack.ts';
import { exportAttacks } from './export-attacks.ts';
import { httpAttacks } from './http-attacks.ts';
import { ingestAttacks } from './ingest-attacks.ts';
import { notificationAttacks } from './notification-attacks.ts';
import { pgwireAttacks } from './pgwire-attacks.ts';
import { queryAttacks } from './query-attacks.ts';
import { signInAttacks } from './sign-in-attacks.ts';
import { tailAttacks } from './tail-attacks.ts';
import { translationAttacks } from './translation-attacks.ts';

/** All attacks, by subject. */
export const attacks: Readonly<Record<string, readonly Attack[]>> = {
  translation: translationAttacks,
  ingest: ingestAttacks,
  http: httpAttacks,
  'sign-in': signInAttacks,
  queries: queryAttacks,
  exports: exportAttacks,
  tails: tailAttacks,
  notifications: notificationAttacks,
  pgwire: pgwireAttacks,
  administration: administrationAttacks,
  alerts: alertAttacks,
};
