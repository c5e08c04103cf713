import { ServiceError, send, sendForJson, sessionPath } from './api-client.ts';

/** Who has signed in, and what they may do. */
export interface SessionInfo {
  readonly kind: 'root' | 'user' | 'apiKey' | 'oidc';
  readonly name: string;
  readonly tenant: string;
  readonly multiTenant: boolean;
  readonly expiresAt: string;
  readonly actions: readonly string[];
}

/** Which ways of signing in there are. */
export interface SignInWays {
  readonly provider: boolean;
  readonly multiTenant: boolean;
}

export type SignInBody =
  | { readonly username: string; readonly password: string; readonly tenant?: string }
  | { readonly apiKey: string };

/** @throws ServiceError other than that nobody has signed in */
export async function askSession(): Promise<SessionInfo | SignInWays> {
  try {
    return await sendForJson<SessionInfo>(sessionPath);
  } catch (error) {
    if (!(error instanceof ServiceError) || error.status !== 401) throw error;
    const { signInWays, multiTenant } = error.problem;
    return {
      provider: Array.isArray(signInWays) && signInWays.includes('provider'),
      multiTenant: multiTenant === true,
    };
  }
}

export const beginSession = (body: SignInBody): Promise<SessionInfo> =>
  sendForJson<SessionInfo>(sessionPath, { method: 'POST', body });

/** @returns where to go to end the session of the identity provider, too; null if there is none */
export async function endSession(): Promise<string | null> {
  const response = await send(sessionPath, { method: 'DELETE' });
  return ((await response.json()) as { next: string | null }).next;
}
