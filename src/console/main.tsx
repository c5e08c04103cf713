import './style/base.css';
import './style/shell.css';
import './style/explore.css';
import './style/start.css';
import './style/sql.css';
import 'uplot/dist/uPlot.min.css';
import { render } from 'preact';
import { useEffect } from 'preact/hooks';
import { ServiceError } from './api/api-client.ts';
import { listDatasets } from './api/identity-requests.ts';
import { ExplorePage } from './pages/explore/explore-page.tsx';
import { SignInPage } from './pages/sign-in/sign-in-page.tsx';
import { SqlPage } from './pages/sql/sql-page.tsx';
import { StartPage } from './pages/start/start-page.tsx';
import { navigate, page } from './state/address.ts';
import { readKept } from './state/settings.ts';
import { loadSession, may, session, signInState } from './state/signed-in.ts';
import { Shell, visiblePages } from './ui/shell.tsx';
import { ErrorBanner, ViewState } from './ui/view-state.tsx';

function App() {
  const state = signInState.value;
  switch (state.kind) {
    case 'asking':
      return <div class="page" />;
    case 'unreachable': {
      const { error } = state;
      return (
        <main class="sign-in">
          <ViewState icon="warning" title="The service does not answer yet">
            <ErrorBanner
              error={error instanceof ServiceError ? error : new ServiceError(0, { detail: error.message })}
              retryAtMs={state.retryAtMs}
            />
          </ViewState>
        </main>
      );
    }
    case 'out':
      return <SignInPage ways={state.ways} hasExpired={state.hasExpired} />;
    case 'in':
      return (
        <Shell>
          <Page />
        </Shell>
      );
  }
}

function Page() {
  const path = page.value;
  const title = visiblePages().find((each) => each.path === path)?.label;
  useEffect(() => {
    document.title = title === undefined ? 'Millrace' : `${title} · Millrace`;
  }, [title]);
  if (path === 'start') return <StartPage />;
  if (!may('query')) {
    return (
      <ViewState icon="lock" title="You may not read data here">
        <p>
          {session.value?.name} has no privilege to read any dataset. Ask an administrator for a role with the
          privilege <code>reader</code>.
        </p>
      </ViewState>
    );
  }
  if (path === 'sql') return <SqlPage />;
  if (path === 'explore') return <ExplorePage />;
  return <Home />;
}

/** Where there is nothing to see yet, the way to send something; otherwise the last page. */
function Home() {
  useEffect(() => {
    const go = (names: readonly string[]) => {
      const isEmpty = names.every((name) => name === 'millrace_audit');
      navigate(isEmpty ? 'start' : readKept('page') === 'sql' ? 'sql' : 'explore', {}, true);
    };
    listDatasets().then(go, () => navigate('explore', {}, true));
  }, []);
  return null;
}

// After an upgrade, a part that is loaded later may be gone: the new page knows the new one.
addEventListener('vite:preloadError', (event) => {
  if (sessionStorage.getItem('millrace.reloaded') !== null) return;
  event.preventDefault();
  sessionStorage.setItem('millrace.reloaded', 'yes');
  location.reload();
});

const root = document.getElementById('console');
if (root === null) throw new Error('BUG: the page has no element for the console');
render(<App />, root);
void loadSession();
