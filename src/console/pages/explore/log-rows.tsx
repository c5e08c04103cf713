import { useEffect, useState } from 'preact/hooks';
import { type DatasetFields, type Level, levelOf } from '../../query/dataset-fields.ts';
import type { ResultColumn, Row } from '../../query/parse-result.ts';
import { cellText, shortCellText } from '../../ui/cell-text.ts';
import { Icon } from '../../ui/icon.tsx';
import { fullTime, shortTime } from '../../ui/time-text.ts';
import { useVirtualRows } from '../../ui/use-virtual-rows.ts';
import { RowDetail } from './row-detail.tsx';

interface LogRowsProps {
  readonly dataset: DatasetFields;
  readonly columns: readonly ResultColumn[];
  readonly rows: readonly Row[];
  /** Columns to show; the message, or all members, if there are none. */
  readonly shown: readonly string[];
  readonly isWrapped: boolean;
  readonly onFilter: (field: string, value: string | null, isExcluded: boolean) => void;
  readonly onToggleColumn: (field: string) => void;
  readonly onEnd: () => void;
  /** Told whether somebody reads: the list is scrolled, or a row is open. */
  readonly onReading: (isReading: boolean) => void;
}

/** Colour is never alone: each level has its letter. */
const letters: Readonly<Record<Level, string>> = {
  fatal: 'F',
  error: 'E',
  warn: 'W',
  info: 'I',
  debug: 'D',
  trace: 'T',
  none: '',
};

/** Distance from the end, in rows, at which more are fetched. */
const endMargin = 30;

/** The rows of a result, newest first; each opens in its place. */
export function LogRows(props: LogRowsProps) {
  const { dataset, columns, rows, shown, isWrapped, onFilter, onToggleColumn, onEnd, onReading } = props;
  const [active, setActive] = useState(0);
  const [open, setOpen] = useState<ReadonlySet<Row>>(new Set());
  const { scroller, virtualizer, items } = useVirtualRows(rows.length, 24, (index) => index);
  const indexOf = (name: string | undefined): number =>
    name === undefined ? -1 : columns.findIndex((column) => column.name === name);
  const time = indexOf(dataset.time);
  const level = indexOf(dataset.level);
  const message = indexOf(dataset.message);
  const chosen = shown.map((name) => [name, indexOf(name)] as const).filter(([, index]) => index >= 0);
  const lastItem = items.at(-1)?.index ?? 0;
  useEffect(() => {
    if (rows.length > 0 && lastItem >= rows.length - endMargin) onEnd();
  }, [lastItem, rows.length]);
  useEffect(() => {
    virtualizer.measure();
  }, [isWrapped, shown.length]);
  const isScrolled = (virtualizer.scrollOffset ?? 0) > 0;
  useEffect(() => onReading(isScrolled || open.size > 0), [isScrolled, open.size]);

  const toggle = (row: Row) => {
    const next = new Set(open);
    if (!next.delete(row)) next.add(row);
    setOpen(next);
  };
  const move = (to: number) => {
    const next = Math.max(0, Math.min(rows.length - 1, to));
    setActive(next);
    virtualizer.scrollToIndex(next, { align: 'auto' });
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.target !== event.currentTarget || event.ctrlKey || event.metaKey || event.altKey) {
      if (event.key === 'Escape') scroller.current?.focus();
      return;
    }
    const row = rows[active];
    const steps: Readonly<Record<string, number>> = {
      ArrowDown: active + 1,
      j: active + 1,
      ArrowUp: active - 1,
      k: active - 1,
      PageDown: active + 20,
      PageUp: active - 20,
      Home: 0,
      End: rows.length - 1,
    };
    const step = steps[event.key];
    if (step !== undefined) move(step);
    else if (row !== undefined && (event.key === 'Enter' || event.key === ' ')) toggle(row);
    else if (event.key === 'Escape') setOpen(new Set());
    else return;
    event.preventDefault();
  };
  const template = gridTemplate(level >= 0, chosen.length);
  return (
    <div
      ref={scroller}
      class={`log-rows ${isWrapped ? 'wrapped' : ''}`}
      role="treegrid"
      aria-label="Rows"
      aria-rowcount={rows.length + 1}
      aria-colcount={2 + Math.max(1, chosen.length) + (level >= 0 ? 1 : 0)}
      aria-activedescendant={rows.length > 0 ? `row-${active}` : undefined}
      tabIndex={0}
      onKeyDown={onKeyDown}
    >
      <div class="log-head log-line" role="row" style={{ gridTemplateColumns: template }}>
        <span role="columnheader">
          <span class="visually-hidden">Open</span>
        </span>
        <span role="columnheader">{dataset.time}</span>
        {level >= 0 ? <span role="columnheader">{dataset.level}</span> : null}
        {chosen.length === 0 ? (
          <span role="columnheader">{dataset.message ?? 'Fields'}</span>
        ) : (
          chosen.map(([name]) => (
            <span key={name} role="columnheader" class="chosen">
              <span class="truncated">{name}</span>
              <button
                type="button"
                class="button quiet small"
                aria-label={`Hide the column ${name}`}
                onClick={() => onToggleColumn(name)}
              >
                <Icon name="close" />
              </button>
            </span>
          ))
        )}
      </div>
      <div class="log-body" role="presentation" style={{ height: `${virtualizer.getTotalSize()}px` }}>
        {items.map((item) => {
          const row = rows[item.index];
          if (row === undefined) return null;
          const isOpen = open.has(row);
          const rowLevel = level < 0 ? 'none' : levelOf(row[level]);
          const moment = cellText(row[time]);
          return (
            <div
              key={item.key}
              ref={(element) => {
                if (element !== null) virtualizer.measureElement(element);
              }}
              data-index={item.index}
              class="log-item"
              role="presentation"
              style={{ transform: `translateY(${item.start}px)` }}
            >
              <div
                id={`row-${item.index}`}
                class={`log-line log-row level-${rowLevel} ${item.index === active ? 'active' : ''} ${isOpen ? 'open' : ''}`}
                role="row"
                aria-rowindex={item.index + 2}
                aria-expanded={isOpen}
                style={{ gridTemplateColumns: template }}
                onClick={() => {
                  setActive(item.index);
                  if (getSelection()?.isCollapsed !== false) toggle(row);
                }}
              >
                <span role="gridcell" class="marker">
                  <Icon name="chevron" />
                </span>
                <span
                  role="gridcell"
                  class="numeric time"
                  title={`${fullTime(moment)}\n${fullTime(moment, 'UTC')}`}
                >
                  {shortTime(moment)}
                </span>
                {level >= 0 ? (
                  <span role="gridcell" class="level" title={cellText(row[level])}>
                    <b>{letters[rowLevel]}</b> <span class="truncated">{shortCellText(row[level])}</span>
                  </span>
                ) : null}
                {chosen.length === 0 ? (
                  <span role="gridcell" class="content">
                    {message >= 0 && row[message] !== null ? (
                      shortCellText(row[message])
                    ) : (
                      <Members columns={columns} row={row} without={[dataset.time, dataset.level]} />
                    )}
                  </span>
                ) : (
                  chosen.map(([name, index]) => (
                    <span key={name} role="gridcell" class="content">
                      {columns[index]?.type.startsWith('timestamp')
                        ? shortTime(cellText(row[index]))
                        : shortCellText(row[index])}
                    </span>
                  ))
                )}
              </div>
              {isOpen ? (
                <div role="row" class="detail-row">
                  <div role="gridcell">
                    <RowDetail
                      dataset={dataset}
                      columns={columns}
                      row={row}
                      shown={shown}
                      onFilter={onFilter}
                      onToggleColumn={onToggleColumn}
                      onClose={() => {
                        toggle(row);
                        scroller.current?.focus();
                      }}
                    />
                  </div>
                </div>
              ) : null}
            </div>
          );
        })}
      </div>
    </div>
  );
}

function gridTemplate(hasLevel: boolean, chosen: number): string {
  const rest = chosen === 0 ? 'minmax(0, 1fr)' : `repeat(${chosen}, minmax(120px, 1fr))`;
  return `20px 146px ${hasLevel ? '76px ' : ''}${rest}`;
}

/** Members of one line; more would not be seen. */
const maxMembers = 30;

interface MembersProps {
  readonly columns: readonly ResultColumn[];
  readonly row: Row;
  readonly without: ReadonlyArray<string | undefined>;
}

/** What a row holds, in one line: names and values. */
function Members({ columns, row, without }: MembersProps) {
  const members = columns
    .map(({ name }, index) => [name, row[index]] as const)
    .filter(
      ([name, value]) =>
        value !== null &&
        value !== undefined &&
        value !== '' &&
        !without.includes(name) &&
        !name.startsWith('p_'),
    );
  return (
    <>
      {members.slice(0, maxMembers).map(([name, value]) => (
        <span key={name} class="member">
          <span class="muted">{name}=</span>
          {shortCellText(value)}
        </span>
      ))}
    </>
  );
}
