import { useState } from 'preact/hooks';
import type { DatasetFields } from '../../query/dataset-fields.ts';
import type { Cell, ResultColumn, Row } from '../../query/parse-result.ts';
import { hrefOf } from '../../state/address.ts';
import { cellText } from '../../ui/cell-text.ts';
import { CopyButton } from '../../ui/copy-button.tsx';
import { Icon } from '../../ui/icon.tsx';
import { JsonTree, LongText } from '../../ui/json-tree.tsx';
import { fullTime } from '../../ui/time-text.ts';

interface RowDetailProps {
  readonly dataset: DatasetFields;
  readonly columns: readonly ResultColumn[];
  readonly row: Row;
  readonly shown: readonly string[];
  readonly onFilter: (field: string, value: string | null, isExcluded: boolean) => void;
  readonly onToggleColumn: (field: string) => void;
  readonly onClose: () => void;
}

/** Longer values are no filters of people. */
const maxFilterLength = 500;
/** The time around a row that its link shows. */
const aroundMs = 60_000;

/** One row: its fields as a list, or as JSON. */
export function RowDetail({
  dataset,
  columns,
  row,
  shown,
  onFilter,
  onToggleColumn,
  onClose,
}: RowDetailProps) {
  const [view, setView] = useState<'fields' | 'json'>('fields');
  const [withEmpty, setWithEmpty] = useState(false);
  const members = columns.map(({ name, type }, index) => ({ name, type, value: row[index] ?? null }));
  const filled = members.filter(({ value }) => value !== null && value !== '');
  const json = () =>
    JSON.stringify(Object.fromEntries(filled.map(({ name, value }) => [name, value])), null, 2);
  const moment = cellText(members.find(({ name }) => name === dataset.time)?.value);
  return (
    <div class="row-detail">
      <div class="row-actions">
        <div class="segments" role="group" aria-label="Show the row as">
          {(['fields', 'json'] as const).map((each) => (
            <button
              key={each}
              type="button"
              class="button quiet small"
              aria-pressed={view === each}
              onClick={() => setView(each)}
            >
              {each === 'fields' ? 'Fields' : 'JSON'}
            </button>
          ))}
        </div>
        <CopyButton text={json} label="Copy JSON" />
        <CopyButton text={() => rowLink(dataset, moment)} label="Copy link" />
        <a class="button small quiet" href={aroundLink(dataset, moment)} target="_blank" rel="noopener">
          <Icon name="link" />
          Rows around
        </a>
        <span class="spacer" />
        {members.length > filled.length && view === 'fields' ? (
          <button
            type="button"
            class="button small quiet"
            aria-pressed={withEmpty}
            onClick={() => setWithEmpty(!withEmpty)}
          >
            {members.length - filled.length} empty
          </button>
        ) : null}
        <button
          type="button"
          class="button small quiet"
          aria-label="Close the row"
          title="Close (Esc)"
          onClick={onClose}
        >
          <Icon name="close" />
        </button>
      </div>
      {view === 'json' ? (
        <pre class="row-json">
          <LongText text={json()} />
        </pre>
      ) : (
        <dl class="row-fields">
          {(withEmpty ? members : filled).map(({ name, type, value }) => (
            <div key={name} class="row-field">
              <dt class="mono" title={type}>
                {name}
              </dt>
              <dd>
                <div class="mono">
                  <FieldValue type={type} value={value} />
                </div>
                <FieldActions
                  name={name}
                  value={value}
                  isShown={shown.includes(name)}
                  onFilter={onFilter}
                  onToggleColumn={onToggleColumn}
                />
              </dd>
            </div>
          ))}
        </dl>
      )}
    </div>
  );
}

function FieldValue({ type, value }: { readonly type: string; readonly value: Cell }) {
  if (typeof value === 'string' && type.startsWith('timestamp')) {
    return <span title={value}>{fullTime(value)}</span>;
  }
  const parsed = typeof value === 'string' ? parsedJson(value) : value;
  return <JsonTree value={parsed} />;
}

/** Texts that hold an object or an array are shown as such. */
function parsedJson(text: string): unknown {
  if (!/^\s*[{[]/.test(text) || text.length > 100_000) return text;
  try {
    return JSON.parse(text);
  } catch {
    return text; // It only looks like JSON.
  }
}

interface FieldActionsProps {
  readonly name: string;
  readonly value: Cell;
  readonly isShown: boolean;
  readonly onFilter: RowDetailProps['onFilter'];
  readonly onToggleColumn: RowDetailProps['onToggleColumn'];
}

function FieldActions({ name, value, isShown, onFilter, onToggleColumn }: FieldActionsProps) {
  const text = cellText(value);
  const canFilter = value === null || (typeof value !== 'object' && text.length <= maxFilterLength);
  return (
    <div class="field-actions">
      {canFilter ? (
        <>
          <button
            type="button"
            class="button quiet small"
            aria-label={`Only rows with this ${name}`}
            title="Only rows with this value"
            onClick={() => onFilter(name, value === null ? null : text, value === null)}
          >
            <Icon name="plus" />
          </button>
          <button
            type="button"
            class="button quiet small"
            aria-label={`No rows with this ${name}`}
            title="No rows with this value"
            onClick={() => onFilter(name, value === null ? null : text, value !== null)}
          >
            <Icon name="minus" />
          </button>
        </>
      ) : null}
      <button
        type="button"
        class="button quiet small"
        aria-label={`Column ${name}`}
        title="Show as a column"
        aria-pressed={isShown}
        onClick={() => onToggleColumn(name)}
      >
        <Icon name="columns" />
      </button>
      <CopyButton text={() => text} label={`Copy ${name}`} isCompact />
    </div>
  );
}

/** Explore at the time of a row. */
const rowLink = (dataset: DatasetFields, moment: string): string =>
  new URL(aroundLink(dataset, moment), location.href).href;

function aroundLink({ dataset }: DatasetFields, moment: string): string {
  const ms = Date.parse(moment);
  const at = (offset: number): string => new Date(ms + offset).toISOString();
  return hrefOf('explore', {
    dataset,
    ...(Number.isNaN(ms) ? {} : { from: at(-aroundMs), to: at(aroundMs) }),
  });
}
