import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { ServiceError } from '../api/api-client.ts';
import { Icon, type IconName } from './icon.tsx';

interface StateProps {
  readonly icon?: IconName;
  readonly title: string;
  readonly children?: ComponentChildren;
}

/** What a view shows instead of data: why there is none, and what to do next. */
export const ViewState = ({ icon = 'empty', title, children }: StateProps) => (
  <div class="state">
    <Icon name={icon} />
    <h2>{title}</h2>
    {children}
  </div>
);

/** A thin line that moves while something loads. It takes its room always, so that nothing jumps. */
export const Progress = ({ isActive, label }: { readonly isActive: boolean; readonly label: string }) => (
  <div class={`progress ${isActive ? 'active' : ''}`} role="status">
    <span class="visually-hidden">{isActive ? label : ''}</span>
  </div>
);

interface ErrorProps {
  readonly error: ServiceError;
  readonly retryAtMs?: number | undefined;
  readonly children?: ComponentChildren;
}

/** An error of the service, in its own words, with its code. */
export function ErrorBanner({ error, retryAtMs, children }: ErrorProps) {
  const seconds = useSecondsUntil(retryAtMs);
  return (
    <div class="banner danger" role="alert">
      <Icon name={error.status === 403 ? 'lock' : 'warning'} />
      <span>
        {error.message.split('\n', 1)}
        {error.code === '' ? '' : <span class="mono"> {error.code}</span>}
        {seconds === undefined ? '' : `. Trying again in ${seconds} s.`}
      </span>
      {children}
    </div>
  );
}

export function useSecondsUntil(atMs: number | undefined): number | undefined {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    if (atMs === undefined) return undefined;
    setNow(Date.now());
    const timer = setInterval(() => setNow(Date.now()), 500);
    return () => clearInterval(timer);
  }, [atMs]);
  return atMs === undefined ? undefined : Math.max(0, Math.ceil((atMs - now) / 1000));
}
