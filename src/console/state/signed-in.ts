import { computed, signal } from '@preact/signals';
import { actInTenant, ServiceError, whenSignedOut } from '../api/api-client.ts';
import {
  askSession,
  beginSession,
  endSession,
  type SessionInfo,
  type SignInBody,
  type SignInWays,
} from '../api/session-requests.ts';

/** Whether somebody has signed in, as far as this page knows. */
export type SignInState =
  | { readonly kind: 'asking' }
  | { readonly kind: 'unreachable'; readonly error: Error; readonly retryAtMs: number }
  | { readonly kind: 'out'; readonly ways: SignInWays; readonly hasExpired: boolean }
  | { readonly kind: 'in'; readonly session: SessionInfo };

export const signInState = signal<SignInState>({ kind: 'asking' });
export const session = computed(() =>
  signInState.value.kind === 'in' ? signInState.value.session : undefined,
);
/** Whether the person may do this on all datasets, or those they may see; the service decides anyway. */
export const may = (action: string): boolean => session.value?.actions.includes(action) ?? false;

/** Asks the service who has signed in, until it answers. */
export async function loadSession(hasExpired = false): Promise<void> {
  try {
    const answer = await askSession();
    signInState.value =
      'name' in answer ? { kind: 'in', session: answer } : { kind: 'out', ways: answer, hasExpired };
  } catch (thrown) {
    const error = thrown instanceof Error ? thrown : new Error(String(thrown));
    const seconds = (thrown instanceof ServiceError ? thrown.retryAfterSeconds : undefined) ?? 5;
    signInState.value = { kind: 'unreachable', error, retryAtMs: Date.now() + seconds * 1000 };
    setTimeout(() => void loadSession(hasExpired), seconds * 1000);
  }
}

whenSignedOut(() => {
  if (signInState.peek().kind === 'in') void loadSession(true);
});

/** @throws ServiceError */
export async function signIn(body: SignInBody): Promise<void> {
  const begun = await beginSession(body);
  const wanted = 'tenant' in body ? body.tenant : undefined;
  // The root administrator may act in every tenant, and says with each request in which.
  actInTenant(begun.kind === 'root' && wanted !== undefined && begun.multiTenant ? wanted : '');
  signInState.value = { kind: 'in', session: begun };
}

/** @throws ServiceError */
export async function signOut(): Promise<void> {
  const next = await endSession();
  actInTenant('');
  if (next !== null && /^https?:/.test(next)) location.assign(next);
  else await loadSession();
}
