import { useRef, useState } from 'preact/hooks';
import { ServiceError } from '../../api/api-client.ts';
import type { SignInWays } from '../../api/session-requests.ts';
import { signIn } from '../../state/signed-in.ts';
import { Mark } from '../../ui/icon.tsx';
import { ErrorBanner } from '../../ui/view-state.tsx';

interface SignInProps {
  readonly ways: SignInWays;
  readonly hasExpired: boolean;
}

/** By password, API key, or at the identity provider. */
export function SignInPage({ ways, hasExpired }: SignInProps) {
  const [way, setWay] = useState<'password' | 'key'>('password');
  const [error, setError] = useState<ServiceError | undefined>();
  const [isBusy, setIsBusy] = useState(false);
  const form = useRef<HTMLFormElement>(null);
  const submit = async () => {
    if (form.current === null || isBusy) return;
    const data = new FormData(form.current);
    const get = (name: string): string => String(data.get(name) ?? '');
    const tenant = get('tenant').trim();
    setIsBusy(true);
    setError(undefined);
    try {
      await signIn(
        way === 'key'
          ? { apiKey: get('key').trim() }
          : { username: get('username'), password: get('password'), ...(tenant === '' ? {} : { tenant }) },
      );
    } catch (thrown) {
      setError(
        thrown instanceof ServiceError
          ? explained(thrown, way)
          : new ServiceError(0, { detail: String(thrown) }),
      );
    } finally {
      setIsBusy(false);
    }
  };
  return (
    <main class="sign-in">
      <div class="panel sign-in-card">
        <header>
          <Mark />
          <div>
            <h1>Millrace</h1>
            <p class="muted">Sign in to {location.host}</p>
          </div>
        </header>
        {hasExpired && error === undefined ? (
          <p class="banner notice" role="status">
            Your session has ended. Sign in again to continue where you were.
          </p>
        ) : null}
        {error === undefined ? null : <ErrorBanner error={error} />}
        {ways.provider ? (
          <a class="button primary" href={providerHref()}>
            Sign in with the identity provider
          </a>
        ) : null}
        <div class="segments" role="group" aria-label="Sign in with">
          {(['password', 'key'] as const).map((each) => (
            <button
              key={each}
              type="button"
              class="button quiet grow"
              aria-pressed={way === each}
              onClick={() => {
                setWay(each);
                setError(undefined);
              }}
            >
              {each === 'password' ? 'Password' : 'API key'}
            </button>
          ))}
        </div>
        <form
          ref={form}
          onSubmit={(event) => {
            event.preventDefault();
            void submit();
          }}
        >
          {way === 'key' ? (
            <label class="labelled">
              API key
              <input
                class="field mono"
                name="key"
                type="password"
                autocomplete="off"
                required
                spellcheck={false}
              />
            </label>
          ) : (
            <>
              {ways.multiTenant ? (
                <label class="labelled">
                  Tenant
                  <input
                    class="field"
                    name="tenant"
                    autocomplete="organization"
                    required
                    spellcheck={false}
                  />
                </label>
              ) : null}
              <label class="labelled">
                User
                <input
                  class="field"
                  name="username"
                  autocomplete="username"
                  required
                  spellcheck={false}
                  autocapitalize="none"
                />
              </label>
              <label class="labelled">
                Password
                <input
                  class="field"
                  name="password"
                  type="password"
                  autocomplete="current-password"
                  required
                />
              </label>
            </>
          )}
          <button type="submit" class={`button ${ways.provider ? '' : 'primary'}`} disabled={isBusy}>
            {isBusy ? 'Signing in…' : 'Sign in'}
          </button>
          {way === 'password' ? (
            <p class="hint">
              The administrator's password was printed at the first start. It is also in the file{' '}
              <code>admin-password</code> of the data directory.
            </p>
          ) : (
            <p class="hint">
              The key stays in this request: the browser keeps a cookie that scripts cannot read.
            </p>
          )}
        </form>
      </div>
    </main>
  );
}

/** After the sign-in, the browser comes back to this page; what follows `#` would be lost on the way. */
const providerHref = (): string => `./api/v1/o/login?redirect=${encodeURIComponent(location.pathname)}`;

/** What is wrong, for people: the service does not say which of the two is. */
function explained(error: ServiceError, way: 'password' | 'key'): ServiceError {
  if (error.status === 401) {
    const detail = way === 'key' ? 'This API key is not valid.' : 'The user or the password is not right.';
    return new ServiceError(401, { detail });
  }
  if (error.status === 429 || error.status === 503) {
    const seconds = error.retryAfterSeconds ?? 1;
    return new ServiceError(error.status, {
      detail: `The service cannot check this now (${error.message}). Try again in ${seconds} s.`,
    });
  }
  return error;
}
