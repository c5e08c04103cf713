/** Our own icons, on a grid of 16, drawn with lines. */
const paths = {
  explore: 'M7 12.5a5.5 5.5 0 1 0 0-11 5.5 5.5 0 0 0 0 11ZM11 11l3.5 3.5M4.5 5.5h5M4.5 8.5h3',
  sql: 'M2 4c0-1.4 2.7-2.5 6-2.5S14 2.6 14 4 11.3 6.5 8 6.5 2 5.4 2 4ZM2 4v8c0 1.4 2.7 2.5 6 2.5s6-1.1 6-2.5V4M2 8c0 1.4 2.7 2.5 6 2.5S14 9.4 14 8',
  start: 'M8 1.5v8.5M4.5 6.5 8 10l3.5-3.5M2 11v2.5h12V11',
  user: 'M8 8a3 3 0 1 0 0-6 3 3 0 0 0 0 6ZM2.5 14.5c.5-3 2.7-4.5 5.5-4.5s5 1.5 5.5 4.5',
  clock: 'M8 14.5a6.5 6.5 0 1 0 0-13 6.5 6.5 0 0 0 0 13ZM8 4.5V8l2.5 1.5',
  run: 'M4 2.5v11l9-5.5-9-5.5Z',
  stop: 'M3.5 3.5h9v9h-9z',
  close: 'm3.5 3.5 9 9M12.5 3.5l-9 9',
  plus: 'M8 3v10M3 8h10',
  minus: 'M3 8h10',
  check: 'm3 8.5 3.5 3.5L13 4.5',
  copy: 'M5.5 5.5h8v8h-8zM10.5 5.5v-3h-8v8h3',
  download: 'M8 2v8M4.5 7 8 10.5 11.5 7M2.5 13.5h11',
  link: 'M6.5 9.5 9.5 6.5M7 4.5l1.5-1.5a3 3 0 0 1 4.5 4.5L11.5 9M9 11.5 7.5 13A3 3 0 0 1 3 8.5L4.5 7',
  columns: 'M2 2.5h12v11H2zM6 2.5v11M10 2.5v11',
  wrap: 'M2 3.5h12M2 8h9.5a2 2 0 0 1 0 4H9M10.5 10.5 9 12l1.5 1.5M2 12h3.5',
  chevron: 'm6 3.5 4.5 4.5L6 12.5',
  down: 'm3.5 6 4.5 4.5L12.5 6',
  refresh: 'M13.5 8A5.5 5.5 0 1 1 12 4.2M13.5 1.5v3h-3',
  tail: 'M2 12.5h3l2-9 2.5 11 2-6H14',
  warning: 'M8 1.5 15 14H1L8 1.5ZM8 6v4M8 12v.2',
  lock: 'M3.5 7.5h9v6.5h-9zM5.5 7.5V5a2.5 2.5 0 0 1 5 0v2.5',
  empty: 'M2 9.5 4 3h8l2 6.5V13H2V9.5ZM2 9.5h3.5c0 1.4 1 2.3 2.5 2.3s2.5-.9 2.5-2.3H14',
  keys: 'M1.5 4h13v8.5h-13zM4 6.5h.2M6.5 6.5h.2M9 6.5h.2M11.5 6.5h.2M5 10h6',
  fields: 'M2.5 3.5h5M2.5 8h5M2.5 12.5h5M11 3.5h2.5M11 8h2.5M11 12.5h2.5',
  chart: 'M2 14V2M2 14h12M5 11V8M8 11V4.5M11 11V6.5',
  table: 'M2 2.5h12v11H2zM2 6h12M2 9.7h12M7 6v7.5',
} as const;

export type IconName = keyof typeof paths;

export const Icon = ({ name }: { readonly name: IconName }) => (
  <svg class="icon" viewBox="0 0 16 16" aria-hidden="true">
    <path d={paths[name]} />
  </svg>
);

/** The mark of the project: two waves. */
export const Mark = () => (
  <svg viewBox="0 0 32 32" aria-hidden="true">
    <rect width="32" height="32" rx="7" fill="#0f766e" />
    <g fill="none" stroke-width="2.6" stroke-linecap="round">
      <path d="M6 21c3.3 0 3.3-3 6.7-3s3.3 3 6.6 3 3.4-3 6.7-3" stroke="#fff" />
      <path d="M6 14c3.3 0 3.3-3 6.7-3s3.3 3 6.6 3 3.4-3 6.7-3" stroke="#5eead4" />
    </g>
  </svg>
);
