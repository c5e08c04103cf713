import { useState } from 'preact/hooks';
import { cellText, maxCellLength, webLink } from './cell-text.ts';

/** Entries of an object or array that are shown at once. */
const maxEntries = 200;

/** A text that may be long: its beginning, and a button that shows all of it. */
export function LongText({ text }: { readonly text: string }) {
  const [isWhole, setIsWhole] = useState(false);
  if (text.length <= maxCellLength || isWhole) {
    const link = webLink(text);
    if (link === undefined) return <span class="value-text">{text}</span>;
    return (
      <a class="value-text" href={link} target="_blank" rel="noopener noreferrer">
        {text}
      </a>
    );
  }
  return (
    <span class="value-text">
      {text.slice(0, maxCellLength)}…{' '}
      <button type="button" class="button small" onClick={() => setIsWhole(true)}>
        Show all {text.length.toLocaleString('en')} characters
      </button>
    </span>
  );
}

/** A value; objects and arrays as a tree that opens level by level. */
export function JsonTree({ value, isOpen = true }: { readonly value: unknown; readonly isOpen?: boolean }) {
  const [isAll, setIsAll] = useState(false);
  if (value === null || value === undefined) return <span class="muted">null</span>;
  if (typeof value !== 'object') return <LongText text={cellText(value)} />;
  const entries = Object.entries(value);
  const summary = Array.isArray(value) ? `${entries.length} elements` : `${entries.length} members`;
  return (
    <details class="tree" open={isOpen}>
      <summary class="muted">{summary}</summary>
      <dl>
        {entries.slice(0, isAll ? undefined : maxEntries).map(([name, member]) => (
          <div key={name}>
            <dt class="mono">{name}</dt>
            <dd class="mono">
              <JsonTree value={member} isOpen={false} />
            </dd>
          </div>
        ))}
      </dl>
      {entries.length > maxEntries && !isAll ? (
        <button type="button" class="button small" onClick={() => setIsAll(true)}>
          Show all
        </button>
      ) : null}
    </details>
  );
}
