import { effect, signal } from '@preact/signals';
import { readKept, writeKept } from '../../state/settings.ts';

/** The texts of the SQL page. They stay in this browser; results never do. */
export interface SqlTab {
  readonly id: string;
  readonly name: string;
  readonly sql: string;
}

interface Tabs {
  readonly tabs: readonly SqlTab[];
  readonly active: string;
}

export const maxTabs = 20;
export const maxHistory = 200;
/** Longer texts are not kept: a browser keeps 5 MB in all. */
const maxKeptLength = 20_000;

const firstSql =
  "SELECT table_name\n  FROM information_schema.tables\n WHERE table_schema = 'public'\n ORDER BY 1";

export const tabs = signal<Tabs>(readTabs());
export const sqlHistory = signal<readonly string[]>(readHistory());

effect(() => {
  const kept = tabs.value.tabs.map((tab) => ({ ...tab, sql: tab.sql.slice(0, maxKeptLength) }));
  writeKept('sqlTabs', JSON.stringify({ ...tabs.value, tabs: kept }));
});
effect(() => writeKept('sqlHistory', JSON.stringify(sqlHistory.value)));

export const activeTab = (): SqlTab | undefined => tabs.value.tabs.find(({ id }) => id === tabs.value.active);

export function openTab(sql: string): void {
  const { tabs: all } = tabs.peek();
  const known = all.find((tab) => tab.sql === sql);
  if (known !== undefined) {
    tabs.value = { tabs: all, active: known.id };
    return;
  }
  const tab = newTab(sql, all);
  // The oldest one makes room.
  tabs.value = { tabs: [...all.slice(-(maxTabs - 1)), tab], active: tab.id };
}

export const chooseTab = (id: string): void => {
  tabs.value = { ...tabs.peek(), active: id };
};

export function closeTab(id: string): void {
  const { tabs: all, active } = tabs.peek();
  const at = all.findIndex((tab) => tab.id === id);
  const rest = all.filter((tab) => tab.id !== id);
  const left = rest.length === 0 ? [newTab('', [])] : rest;
  const next = active === id ? (left[Math.max(0, at - 1)]?.id ?? '') : active;
  tabs.value = { tabs: left, active: next };
}

export function changeSql(id: string, sql: string): void {
  const now = tabs.peek();
  tabs.value = { ...now, tabs: now.tabs.map((tab) => (tab.id === id ? { ...tab, sql } : tab)) };
}

export function remember(sql: string): void {
  if (sql.length > maxKeptLength) return;
  sqlHistory.value = [sql, ...sqlHistory.peek().filter((each) => each !== sql)].slice(0, maxHistory);
}

function newTab(sql: string, all: readonly SqlTab[]): SqlTab {
  const numbers = all.map(({ name }) => Number(/^Query (\d+)$/.exec(name)?.[1] ?? 0));
  return {
    id: crypto.getRandomValues(new Uint32Array(2)).join('.'),
    name: `Query ${Math.max(0, ...numbers) + 1}`,
    sql,
  };
}

function readTabs(): Tabs {
  const kept = parsed(readKept('sqlTabs'));
  if (isTabs(kept) && kept.tabs.length > 0) return kept;
  const tab = newTab(firstSql, []);
  return { tabs: [tab], active: tab.id };
}

function readHistory(): readonly string[] {
  const kept = parsed(readKept('sqlHistory'));
  return Array.isArray(kept) ? kept.filter((each) => typeof each === 'string') : [];
}

/** What an older version or a person wrote may be anything. */
function parsed(text: string | null): unknown {
  try {
    return JSON.parse(text ?? 'null');
  } catch {
    return null;
  }
}

function isTabs(value: unknown): value is Tabs {
  return (
    typeof value === 'object' &&
    value !== null &&
    'active' in value &&
    'tabs' in value &&
    Array.isArray(value.tabs) &&
    value.tabs.every(
      (tab: unknown) =>
        typeof tab === 'object' &&
        tab !== null &&
        ['id', 'name', 'sql'].every((name) => typeof (tab as Record<string, unknown>)[name] === 'string'),
    )
  );
}
