import { createLogger } from '../../../src/lib/log.ts';
import type { SessionParts } from '../../../src/pgwire/session.ts';

const notAsked = (): Promise<never> => Promise.reject(new Error('not asked'));

/**
 * What a session of a test works with: everybody may do everything, there is room for all, and the clock
 * stands still. Queries fail unless they are given.
 */
export const sessionParts = (given: Partial<SessionParts>): SessionParts => ({
  query: notAsked,
  describe: notAsked,
  explain: notAsked,
  requireAllowed: () => undefined,
  endOther: () => false,
  refused: () => undefined,
  nowMs: () => 0,
  turn: () => undefined,
  hold: () => true,
  giveBack: () => undefined,
  log: createLogger('silent'),
  ...given,
});
