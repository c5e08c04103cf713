import { useEffect, useState } from 'preact/hooks';
import { isAbort } from '../../api/api-client.ts';
import { runQuery } from '../../api/run-query.ts';
import {
  type DatasetFields,
  type Field,
  isBoolean,
  isNumeric,
  isText,
  isTime,
} from '../../query/dataset-fields.ts';
import { fieldShareSql, type Question, topValueRows, topValuesSql } from '../../query/explore-sql.ts';
import type { Row } from '../../query/parse-result.ts';
import { cellText, shortCellText } from '../../ui/cell-text.ts';
import { Icon } from '../../ui/icon.tsx';
import { countText } from '../../ui/time-text.ts';

interface FieldListProps {
  readonly dataset: DatasetFields;
  readonly question: Question | undefined;
  readonly shown: readonly string[];
  readonly onFilter: (field: string, value: string | null, isExcluded: boolean) => void;
  readonly onToggleColumn: (field: string) => void;
}

/** Fields that are listed at once; the filter finds others. */
const maxListed = 300;

/** The fields of the dataset; opening one shows its most frequent values. */
export function FieldList({ dataset, question, shown, onFilter, onToggleColumn }: FieldListProps) {
  const [filter, setFilter] = useState('');
  const [open, setOpen] = useState<string | undefined>();
  const wanted = filter.trim().toLowerCase();
  const found = dataset.fields.filter(({ name }) => name.toLowerCase().includes(wanted));
  return (
    <aside class="fields" aria-label="Fields">
      <input
        class="field"
        type="search"
        placeholder={`${dataset.fields.length} fields`}
        aria-label="Find a field"
        value={filter}
        onInput={(event) => setFilter(event.currentTarget.value)}
      />
      <ul>
        {found.slice(0, maxListed).map((field) => (
          <li key={field.name}>
            <div class="field-line">
              <button
                type="button"
                class="button quiet small field-name"
                aria-expanded={open === field.name}
                title={`${field.name}: ${field.type}`}
                onClick={() => setOpen(open === field.name ? undefined : field.name)}
              >
                <span class="type-mark" aria-hidden="true">
                  {typeMark(field)}
                </span>
                <span class="truncated">{field.name}</span>
              </button>
              <button
                type="button"
                class="button quiet small"
                aria-label={`Column ${field.name}`}
                title="Show as a column"
                aria-pressed={shown.includes(field.name)}
                onClick={() => onToggleColumn(field.name)}
              >
                <Icon name="columns" />
              </button>
            </div>
            {open === field.name && question !== undefined ? (
              <TopValues field={field} question={question} onFilter={onFilter} />
            ) : null}
          </li>
        ))}
      </ul>
      {found.length > maxListed ? (
        <p class="hint">{found.length - maxListed} more; type to find one.</p>
      ) : null}
    </aside>
  );
}

const typeMark = (field: Field): string =>
  isNumeric(field) ? '#' : isTime(field) ? '◷' : isBoolean(field) ? '◐' : isText(field) ? 'T' : '{}';

interface TopValuesProps {
  readonly field: Field;
  readonly question: Question;
  readonly onFilter: FieldListProps['onFilter'];
}

interface Loaded {
  readonly values: readonly Row[];
  readonly rows: number;
  readonly present: number;
  readonly distinct: number;
}

function TopValues({ field, question, onFilter }: TopValuesProps) {
  const [state, setState] = useState<Loaded | Error | undefined>();
  useEffect(() => {
    const abort = new AbortController();
    setState(undefined);
    loadTopValues(question, field.name, abort.signal).then(setState, (error: unknown) => {
      if (!isAbort(error)) setState(error instanceof Error ? error : new Error(String(error)));
    });
    return () => abort.abort();
  }, [question, field.name]);
  if (state === undefined) return <p class="hint top-values">Counting…</p>;
  if (state instanceof Error) return <p class="hint wrong top-values">{state.message}</p>;
  const share = state.rows === 0 ? 0 : state.present / state.rows;
  return (
    <div class="top-values">
      <p class="hint numeric">
        in {Math.round(share * 100)} % of {state.rows < topValueRows ? '' : 'the newest '}
        {countText(state.rows)} rows, {countText(state.distinct)} {state.distinct === 1 ? 'value' : 'values'}
      </p>
      <ol>
        {state.values.map(([value, count]) => {
          const text = value === null ? null : cellText(value);
          const percent = (Number(count) / Math.max(1, state.rows)) * 100;
          return (
            <li key={text ?? ''}>
              <span class="truncated mono" title={text === null ? 'no value' : shortCellText(value)}>
                {text === null ? (
                  <i class="muted">no value</i>
                ) : text === '' ? (
                  <i class="muted">empty</i>
                ) : (
                  shortCellText(value)
                )}
              </span>
              <span class="numeric muted">{percent < 1 ? '<1' : Math.round(percent)} %</span>
              <button
                type="button"
                class="button quiet small"
                aria-label={`Only rows with ${field.name} ${text ?? 'missing'}`}
                onClick={() => onFilter(field.name, text, text === null)}
              >
                <Icon name="plus" />
              </button>
              <button
                type="button"
                class="button quiet small"
                aria-label={`No rows with ${field.name} ${text ?? 'missing'}`}
                onClick={() => onFilter(field.name, text, text !== null)}
              >
                <Icon name="minus" />
              </button>
              <span class="share" aria-hidden="true">
                <span style={{ width: `${percent}%` }} />
              </span>
            </li>
          );
        })}
      </ol>
    </div>
  );
}

async function loadTopValues(question: Question, field: string, signal: AbortSignal): Promise<Loaded> {
  const [values, share] = await Promise.all([
    runQuery(topValuesSql(question, field), { signal }),
    runQuery(fieldShareSql(question, field), { signal }),
  ]);
  const [rows = 0, present = 0, distinct = 0] = share.rows[0]?.map(Number) ?? [];
  return { values: values.rows, rows, present, distinct };
}
