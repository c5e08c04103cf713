import { effect, signal } from '@preact/signals';

/** What a person chose for this browser. No secret is ever kept here. */

export type Theme = 'system' | 'light' | 'dark';

function kept<Value extends string>(key: string, fallback: Value) {
  const value = signal<Value>(((): Value => (readKept(key) as Value | null) ?? fallback)());
  effect(() => writeKept(key, value.value));
  return value;
}

/** Browsers may forbid storage; then choices last as long as the page. */
export function readKept(key: string): string | null {
  try {
    return localStorage.getItem(`millrace.${key}`);
  } catch {
    return null;
  }
}

export function writeKept(key: string, value: string): void {
  try {
    localStorage.setItem(`millrace.${key}`, value);
  } catch {
    // Forbidden or full: the choice is not worth an error.
  }
}

export const theme = kept<Theme>('theme', 'system');
/** `local`, `UTC`, or an IANA name. */
export const timeZone = kept<string>('timeZone', 'local');

effect(() => {
  const { dataset } = document.documentElement;
  if (theme.value === 'system') delete dataset['theme'];
  else dataset['theme'] = theme.value;
});

/** Counts up when the colours change: what is drawn on a canvas must be drawn again. */
export const themeVersion = signal(0);
effect(() => {
  void theme.value;
  themeVersion.value = themeVersion.peek() + 1;
});
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => {
  themeVersion.value += 1;
});

/** Whether a zone is known to the browser. */
export function isTimeZone(name: string): boolean {
  try {
    return name === 'local' || new Intl.DateTimeFormat('en', { timeZone: name }) !== undefined;
  } catch {
    return false;
  }
}
