import { Component } from 'preact';
import { useMemo, useRef, useState } from 'preact/hooks';
import { isNumeric } from '../query/dataset-fields.ts';
import type { Cell, Result, ResultColumn, Row } from '../query/parse-result.ts';
import { cellText, shortCellText } from './cell-text.ts';
import { CopyButton, copyText } from './copy-button.tsx';
import { Icon } from './icon.tsx';
import { JsonTree } from './json-tree.tsx';
import { useVirtualRows } from './use-virtual-rows.ts';

/** Browsers end near 17 million pixels; beyond this, a download is better. */
export const maxGridRows = 50_000;
/** Characters of the first rows by which a column's width is chosen. */
const sampledRows = 100;
const characterWidth = 7.4;
/** Rows around those in sight: each has many cells. */
const overscan = 5;

/** A result as a table: the heading stays, numbers are aligned, a cell opens in full. */
export function ResultGrid({ result }: { readonly result: Result }) {
  const { columns } = result;
  const rows = result.rows.length > maxGridRows ? result.rows.slice(0, maxGridRows) : result.rows;
  const [active, setActive] = useState<readonly [row: number, column: number]>([0, 0]);
  const [inspected, setInspected] = useState<{ readonly name: string; readonly value: Cell } | undefined>();
  const dialog = useRef<HTMLDialogElement>(null);
  const { scroller, virtualizer, items } = useVirtualRows(rows.length, 26, (index) => index, overscan);
  const { template, totalWidth } = useMemo(() => layoutOf(result), [result]);
  // As many as were ever in sight: a row that leaves gives its elements to one that comes.
  const slots = useRef(0);
  slots.current = Math.max(slots.current, items.length);
  const show = ([row, column]: readonly [number, number]) => {
    setInspected({ name: columns[column]?.name ?? '', value: rows[row]?.[column] });
    dialog.current?.showModal();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const [row, column] = active;
    if ((event.ctrlKey || event.metaKey) && event.key === 'c' && getSelection()?.isCollapsed !== false) {
      void copyText(cellText(rows[row]?.[column]));
      return;
    }
    const to: Readonly<Record<string, readonly [number, number]>> = {
      ArrowDown: [row + 1, column],
      ArrowUp: [row - 1, column],
      ArrowRight: [row, column + 1],
      ArrowLeft: [row, column - 1],
      PageDown: [row + 20, column],
      PageUp: [row - 20, column],
      Home: [row, 0],
      End: [row, columns.length - 1],
    };
    const next = to[event.key];
    if (event.key === 'Enter') show(active);
    else if (next === undefined) return;
    else {
      const bounded = [
        Math.max(0, Math.min(rows.length - 1, next[0])),
        Math.max(0, Math.min(columns.length - 1, next[1])),
      ] as const;
      setActive(bounded);
      virtualizer.scrollToIndex(bounded[0], { align: 'auto' });
      document
        .getElementById(`cell-${bounded[0]}-${bounded[1]}`)
        ?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
    }
    event.preventDefault();
  };
  return (
    <>
      <div
        ref={scroller}
        class="result-grid"
        role="grid"
        aria-label="Result"
        aria-rowcount={rows.length + 1}
        aria-colcount={columns.length + 1}
        aria-activedescendant={rows.length > 0 ? `cell-${active[0]}-${active[1]}` : undefined}
        tabIndex={0}
        onKeyDown={onKeyDown}
        onClick={(event) => {
          const cell = cellOf(event);
          if (cell !== undefined) setActive(cell);
        }}
        onDblClick={(event) => {
          const cell = cellOf(event);
          if (cell !== undefined) show(cell);
        }}
      >
        <div
          class="grid-line grid-head"
          role="row"
          style={{ gridTemplateColumns: template, minWidth: `${totalWidth}px` }}
        >
          <span role="columnheader" class="number">
            #
          </span>
          {columns.map((column, index) => (
            <span
              key={`${index}`}
              role="columnheader"
              class={isNumeric(column) ? 'number' : ''}
              title={`${column.name}: ${column.type}`}
            >
              {column.name}
            </span>
          ))}
        </div>
        <div
          class="log-body"
          role="presentation"
          style={{ height: `${virtualizer.getTotalSize()}px`, minWidth: `${totalWidth}px` }}
        >
          {items.map(({ index, start }) => {
            const row = rows[index];
            return row === undefined ? null : (
              <GridRow
                key={index % slots.current}
                columns={columns}
                row={row}
                index={index}
                start={start}
                template={template}
                active={active[0] === index ? active[1] : -1}
              />
            );
          })}
        </div>
      </div>
      <dialog
        ref={dialog}
        class="cell-dialog"
        aria-labelledby="cell-title"
        onClose={() => setInspected(undefined)}
      >
        <header>
          <h2 id="cell-title" class="truncated">
            {inspected?.name}
          </h2>
          <CopyButton text={() => cellText(inspected?.value)} label="Copy" />
          <form method="dialog">
            <button type="submit" class="button small quiet" aria-label="Close">
              <Icon name="close" />
            </button>
          </form>
        </header>
        <div class="cell-value mono">
          {inspected === undefined ? null : <JsonTree value={inspected.value} />}
        </div>
      </dialog>
    </>
  );
}

interface GridRowProps {
  readonly columns: readonly ResultColumn[];
  readonly row: Row;
  readonly index: number;
  /** Pixels above it. */
  readonly start: number;
  readonly template: string;
  /** The column of its active cell; -1 if it has none. */
  readonly active: number;
}

/** One row; scrolling draws only those that come into sight. */
class GridRow extends Component<GridRowProps> {
  override shouldComponentUpdate(next: GridRowProps): boolean {
    const { columns, row, index, start, template, active } = this.props;
    return (
      row !== next.row ||
      index !== next.index ||
      start !== next.start ||
      active !== next.active ||
      columns !== next.columns ||
      template !== next.template
    );
  }

  override render({ columns, row, index, start, template, active }: GridRowProps) {
    return (
      <div
        class="grid-line grid-row"
        role="row"
        aria-rowindex={index + 2}
        style={{ gridTemplateColumns: template, transform: `translateY(${start}px)` }}
      >
        <span role="rowheader" class="number muted">
          {index + 1}
        </span>
        {columns.map((column, at) => (
          <span
            key={`${at}`}
            id={`cell-${index}-${at}`}
            role="gridcell"
            class={`${isNumeric(column) ? 'number' : ''} ${at === active ? 'active' : ''}`}
          >
            {row[at] === null ? <i class="muted">null</i> : shortCellText(row[at])}
          </span>
        ))}
      </div>
    );
  }
}

/** Widths in pixels, so that no row is measured; the last column takes what is left. */
function layoutOf({ columns, rows }: Result): { readonly template: string; readonly totalWidth: number } {
  const widths = columns.map(({ name }, index) => {
    const lengths = rows.slice(0, sampledRows).map((row) => Math.min(60, cellText(row[index]).length));
    return Math.round(Math.max(name.length + 2, ...lengths, 4) * characterWidth) + 24;
  });
  const tracks = widths.map((width, index) =>
    index === widths.length - 1 ? `minmax(${width}px, 1fr)` : `${width}px`,
  );
  return {
    template: ['56px', ...tracks].join(' '),
    totalWidth: widths.reduce((sum, width) => sum + width, 56),
  };
}

/** The cell that an event is in. */
function cellOf({ target }: Event): readonly [row: number, column: number] | undefined {
  const cell = target instanceof Element ? target.closest('[role=gridcell]') : null;
  const [, row, column] = /^cell-(\d+)-(\d+)$/.exec(cell?.id ?? '') ?? [];
  return row === undefined || column === undefined ? undefined : [Number(row), Number(column)];
}
