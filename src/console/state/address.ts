import { computed, signal } from '@preact/signals';

/**
 * The address holds the state of a page: the path says which page, the fragment the rest. A fragment is never
 * sent, so that searches do not get into access logs.
 */
const current = signal(read());

function read(): { readonly page: string; readonly parameters: URLSearchParams } {
  const page = location.pathname.split('/').at(-1) ?? '';
  return { page, parameters: new URLSearchParams(location.hash.slice(1)) };
}

addEventListener('popstate', () => {
  current.value = read();
});

export const page = computed(() => current.value.page);
export const parameters = computed(() => current.value.parameters);

export type Changes = Readonly<Record<string, string | undefined>>;

/** The address of a page, for links. */
export function hrefOf(to: string, values: Changes = {}): string {
  const next = new URLSearchParams();
  for (const [name, value] of Object.entries(values)) if (value !== undefined) next.set(name, value);
  const fragment = next.toString();
  return `./${to}${fragment === '' ? '' : `#${fragment}`}`;
}

/** Goes to a page. */
export function navigate(to: string, values: Changes = {}, replace = false): void {
  show(hrefOf(to, values), replace);
}

/** Changes parameters of the page; undefined takes one away. */
export function setParameters(changes: Changes, replace = false): void {
  const next = new URLSearchParams(current.value.parameters);
  for (const [name, value] of Object.entries(changes)) {
    if (value === undefined) next.delete(name);
    else next.set(name, value);
  }
  const before = current.value.parameters.toString();
  const after = next.toString();
  if (before !== after) show(`./${current.value.page}${after === '' ? '' : `#${after}`}`, replace);
}

function show(href: string, replace: boolean): void {
  if (replace) history.replaceState(null, '', href);
  else history.pushState(null, '', href);
  current.value = read();
}

/** A click that the page handles by itself; others (in a new tab, say) are the browser's. */
export function followLink(event: MouseEvent, to: string, values?: Changes): void {
  if (event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
  event.preventDefault();
  navigate(to, values);
}
