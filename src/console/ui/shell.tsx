import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { followLink, hrefOf, navigate, page } from '../state/address.ts';
import { isTimeZone, type Theme, theme, timeZone } from '../state/settings.ts';
import { may, session, signOut } from '../state/signed-in.ts';
import { Icon, type IconName, Mark } from './icon.tsx';
import { zoneName } from './time-text.ts';

interface PageEntry {
  readonly path: string;
  readonly label: string;
  readonly icon: IconName;
  /** The key after `g` that goes there. */
  readonly key: string;
  /** The action without which the page would be empty. */
  readonly action: string;
}

const pages: readonly PageEntry[] = [
  { path: 'explore', label: 'Explore', icon: 'explore', key: 'e', action: 'query' },
  { path: 'sql', label: 'SQL', icon: 'sql', key: 's', action: 'query' },
  { path: 'start', label: 'Send data', icon: 'start', key: 'd', action: '' },
];

export const visiblePages = (): readonly PageEntry[] =>
  pages.filter(({ action }) => action === '' || may(action));

/** Navigation on the left, the page beside it. */
export function Shell({ children }: { readonly children: ComponentChildren }) {
  const keys = useRef<HTMLDialogElement>(null);
  useKeys(() => keys.current?.showModal());
  return (
    <div class="shell">
      <nav class="rail" aria-label="Pages">
        <div class="brand">
          <Mark />
          <span class="visually-hidden">Millrace</span>
        </div>
        {visiblePages().map(({ path, label, icon, key }) => (
          <a
            key={path}
            class="rail-item"
            href={hrefOf(path)}
            aria-current={page.value === path ? 'page' : undefined}
            title={`${label} (g ${key})`}
            onClick={(event) => followLink(event, path)}
          >
            <Icon name={icon} />
            {label}
          </a>
        ))}
        <div class="spacer" />
        <button type="button" class="rail-item" onClick={() => keys.current?.showModal()} title="Keys (?)">
          <Icon name="keys" />
          Keys
        </button>
        <button type="button" class="rail-item" popovertarget="account-menu">
          <Icon name="user" />
          <span class="truncated rail-name">{session.value?.name}</span>
        </button>
      </nav>
      <AccountMenu />
      <main class="page">{children}</main>
      <KeysDialog dialog={keys} />
    </div>
  );
}

function AccountMenu() {
  const who = session.value;
  if (who === undefined) return null;
  return (
    <div id="account-menu" popover="auto" class="menu">
      <dl>
        <dt>Signed in as</dt>
        <dd>
          {who.name} <span class="muted">({kindNames[who.kind]})</span>
        </dd>
        {who.multiTenant ? (
          <>
            <dt>Tenant</dt>
            <dd>{who.tenant}</dd>
          </>
        ) : null}
      </dl>
      <div class="row">
        <span id="theme-label" class="muted">
          Colours
        </span>
        <div class="segments" role="group" aria-labelledby="theme-label">
          {themes.map(([value, label]) => (
            <button
              key={value}
              type="button"
              class="button quiet"
              aria-pressed={theme.value === value}
              onClick={() => {
                theme.value = value;
              }}
            >
              {label}
            </button>
          ))}
        </div>
      </div>
      <div class="row">
        <label class="muted" for="zone-select">
          Times in
        </label>
        <ZoneSelect id="zone-select" />
      </div>
      <div class="row">
        <button type="button" class="button wide" onClick={() => void signOut()}>
          Sign out
        </button>
      </div>
    </div>
  );
}

const kindNames = { root: 'administrator', user: 'user', apiKey: 'API key', oidc: 'identity provider' };
const themes: ReadonlyArray<readonly [Theme, string]> = [
  ['system', 'System'],
  ['light', 'Light'],
  ['dark', 'Dark'],
];

/** The zone of all times: that of the browser, UTC, or any other. */
export function ZoneSelect({ id }: { readonly id: string }) {
  const all = Intl.supportedValuesOf('timeZone');
  const own = timeZone.value;
  const others =
    isTimeZone(own) && !all.includes(own) && own !== 'local' && own !== 'UTC' ? [own, ...all] : all;
  return (
    <select
      id={id}
      class="select"
      value={own}
      onChange={(event) => {
        timeZone.value = event.currentTarget.value;
      }}
    >
      <option value="local">This browser ({zoneName('local')})</option>
      <option value="UTC">UTC</option>
      {others.map((name) => (
        <option key={name} value={name}>
          {name}
        </option>
      ))}
    </select>
  );
}

function KeysDialog({ dialog }: { readonly dialog: { current: HTMLDialogElement | null } }) {
  return (
    <dialog ref={dialog} class="keys-dialog" aria-labelledby="keys-title">
      <h2 id="keys-title">Keys</h2>
      <dl>
        {visiblePages().map(({ key, label }) => (
          <>
            <dt>
              <kbd>g</kbd> <kbd>{key}</kbd>
            </dt>
            <dd>Go to {label}</dd>
          </>
        ))}
        {keyTexts.map(([key, text]) => (
          <>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{text}</dd>
          </>
        ))}
      </dl>
      <form method="dialog">
        <button type="submit" class="button">
          Close
        </button>
      </form>
    </dialog>
  );
}

const keyTexts: ReadonlyArray<readonly [string, string]> = [
  ['/', 'Search'],
  ['t', 'Choose the time'],
  ['r', 'Run again'],
  ['j k ↑ ↓', 'Next and previous row'],
  ['Enter', 'Open or close a row'],
  ['Esc', 'Close what is open'],
  ['Ctrl Enter', 'Run the SQL'],
  ['?', 'This list'],
];

/** What pages do at a key; the element with `data-key` of that name is focused or clicked. */
function useKeys(showKeys: () => void): void {
  useEffect(() => {
    let isGoing = false;
    const onKey = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event)) return;
      if (document.querySelector('dialog[open]') !== null) return;
      const wasGoing = isGoing;
      isGoing = event.key === 'g' && !wasGoing;
      if (wasGoing ? goTo(event.key) : event.key === '?' ? show(showKeys) : activate(event.key)) {
        event.preventDefault();
      }
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, []);
}

function show(showKeys: () => void): boolean {
  showKeys();
  return true;
}

function goTo(key: string): boolean {
  const target = visiblePages().find((each) => each.key === key);
  if (target !== undefined) navigate(target.path);
  return target !== undefined;
}

/** Puts the focus into a field, or clicks a button. */
function activate(key: string): boolean {
  const target = key === '/' || key === 't' || key === 'r' ? keyTarget(key) : undefined;
  target?.focus();
  if (target instanceof HTMLInputElement) target.select();
  else target?.click();
  return target !== undefined;
}

const keyTarget = (key: string): HTMLElement | undefined =>
  document.querySelector<HTMLElement>(`[data-key="${key}"]`) ?? undefined;

/** The event of a field in a shadow root names the field only in its path. */
const isTyping = (event: KeyboardEvent): boolean =>
  event
    .composedPath()
    .some(
      (target) =>
        target instanceof HTMLElement &&
        (target.isContentEditable || ['INPUT', 'TEXTAREA', 'SELECT'].includes(target.tagName)),
    );
