import { useEffect, useMemo, useRef } from 'preact/hooks';
import uPlot from 'uplot';
import { isNumeric, isTime } from '../../query/dataset-fields.ts';
import type { Result, ResultColumn } from '../../query/parse-result.ts';
import { themeVersion, timeZone } from '../../state/settings.ts';
import { axisTime, compact } from '../../ui/bar-chart.tsx';
import { canvasColors } from '../../ui/canvas-colors.ts';
import { cellText, shortCellText } from '../../ui/cell-text.ts';
import { countText, fullTime } from '../../ui/time-text.ts';

/** Lines that are drawn; with thousands, a browser stands still. */
const maxSeries = 50;
const maxLegend = 20;
const maxBars = 30;

type Shape =
  | {
      readonly kind: 'lines';
      readonly time: number;
      readonly values: readonly number[];
      readonly group: number;
    }
  | { readonly kind: 'bars'; readonly label: number; readonly value: number };

/** How a result can be drawn: time and numbers as lines, a text and a number as bars; else undefined. */
export function shapeOf(columns: readonly ResultColumn[]): Shape | undefined {
  const numbers = columns.flatMap((column, index) => (isNumeric(column) ? [index] : []));
  const time = columns.findIndex((column) => isTime(column));
  const other = columns.findIndex((column) => !isTime(column) && !isNumeric(column));
  const [value] = numbers;
  if (value === undefined) return undefined;
  if (time >= 0) return { kind: 'lines', time, values: numbers, group: other };
  return other < 0 ? undefined : { kind: 'bars', label: other, value };
}

export function ResultChart({ result }: { readonly result: Result }) {
  const shape = shapeOf(result.columns);
  if (shape === undefined) return null;
  return shape.kind === 'lines' ? (
    <Lines result={result} shape={shape} />
  ) : (
    <Bars result={result} shape={shape} />
  );
}

interface Line {
  readonly label: string;
  readonly points: ReadonlyMap<number, number>;
}

function linesOf({ columns, rows }: Result, { time, values, group }: Extract<Shape, { kind: 'lines' }>) {
  const found = new Map<string, Map<number, number>>();
  const times = new Set<number>();
  for (const row of rows) {
    const ms = Date.parse(cellText(row[time]));
    if (Number.isNaN(ms)) continue;
    times.add(ms);
    for (const index of values) {
      const name = columns[index]?.name ?? '';
      const prefix = group < 0 ? '' : shortCellText(row[group]);
      const label = prefix === '' ? name : values.length === 1 ? prefix : `${prefix} ${name}`;
      const points = found.get(label) ?? new Map<number, number>();
      found.set(label, points);
      if (row[index] !== null) points.set(ms, Number(row[index]));
    }
  }
  const lines: Line[] = [...found].map(([label, points]) => ({ label, points }));
  return { lines, times: [...times].sort((a, b) => a - b) };
}

function Lines({
  result,
  shape,
}: {
  readonly result: Result;
  readonly shape: Extract<Shape, { kind: 'lines' }>;
}) {
  const holder = useRef<HTMLDivElement>(null);
  const tip = useRef<HTMLDivElement>(null);
  const { lines, times } = useMemo(() => linesOf(result, shape), [result]);
  const drawn = lines.slice(0, maxSeries);
  const version = themeVersion.value;
  const zone = timeZone.value;
  useEffect(() => {
    const element = holder.current;
    const label = tip.current;
    if (element === null || label === null) return undefined;
    const names = ['--text-muted', '--line', ...drawn.map((_, index) => seriesColor(index))];
    const colors = canvasColors(element, names);
    const font = `11px ${getComputedStyle(element).fontFamily}`;
    const axis = { stroke: colors('--text-muted'), font, ticks: { show: false } };
    const rangeMs = (times.at(-1) ?? 0) - (times[0] ?? 0);
    const data = [
      times.map((ms) => ms / 1000),
      ...drawn.map(({ points }) => times.map((ms) => points.get(ms) ?? null)),
    ] as unknown as uPlot.AlignedData;
    const plot = new uPlot(
      {
        width: element.clientWidth,
        height: Math.max(180, element.clientHeight),
        legend: { show: false },
        cursor: { y: false },
        series: [
          {},
          ...drawn.map((_, index) => ({
            stroke: colors(seriesColor(index)),
            width: 1.6,
            spanGaps: true,
            points: { show: times.length < 60, size: 5 },
          })),
        ],
        axes: [
          {
            ...axis,
            grid: { show: false },
            values: (_plot, all) => all.map((at) => axisTime(at * 1000, rangeMs)),
          },
          {
            ...axis,
            size: 60,
            grid: { stroke: colors('--line'), width: 1 },
            values: (_plot, all) => all.map(compact),
          },
        ],
        hooks: {
          setCursor: [
            ({ cursor: { idx, left = -1 } }) => {
              const ms = idx === null || idx === undefined ? undefined : times[idx];
              label.hidden = ms === undefined || left < 0;
              if (ms === undefined || left < 0) return;
              const values = drawn
                .flatMap(({ label: name, points }) =>
                  points.has(ms) ? [`${name}  ${countText(points.get(ms) ?? 0)}`] : [],
                )
                .slice(0, maxLegend);
              label.textContent = [fullTime(new Date(ms).toISOString()), ...values].join('\n');
              const room = element.clientWidth - label.offsetWidth - 8;
              label.style.left = `${Math.max(0, Math.min(left + 76, room))}px`;
            },
          ],
        },
      },
      data,
      element,
    );
    const observer = new ResizeObserver(() =>
      plot.setSize({ width: element.clientWidth, height: Math.max(180, element.clientHeight) }),
    );
    observer.observe(element);
    return () => {
      observer.disconnect();
      plot.destroy();
    };
  }, [result, version, zone]);
  return (
    <figure
      class="result-chart"
      aria-label={`${lines.length} lines over ${times.length} times; the table has the values`}
    >
      <div class="chart lines" ref={holder} aria-hidden="true">
        <div class="chart-tip" ref={tip} hidden />
      </div>
      <figcaption>
        <ul class="legend">
          {drawn.slice(0, maxLegend).map(({ label }, index) => (
            <li key={label}>
              <span class={`swatch series-${(index % 8) + 1}`} aria-hidden="true" />
              {label}
            </li>
          ))}
          {lines.length > maxLegend ? <li class="muted">and {lines.length - maxLegend} more</li> : null}
        </ul>
        {lines.length > maxSeries ? (
          <p class="hint">
            {maxSeries} of {countText(lines.length)} lines are drawn. Group by less, or filter.
          </p>
        ) : null}
      </figcaption>
    </figure>
  );
}

const seriesColor = (index: number): `--series-${number}` => `--series-${(index % 8) + 1}`;

function Bars({
  result,
  shape,
}: {
  readonly result: Result;
  readonly shape: Extract<Shape, { kind: 'bars' }>;
}) {
  const bars = result.rows
    .slice(0, maxBars)
    .map((row) => [cellText(row[shape.label]), Number(row[shape.value])] as const);
  const largest = Math.max(...bars.map(([, value]) => Math.abs(value)), Number.MIN_VALUE);
  return (
    <figure class="result-chart bars" aria-label={`${bars.length} bars`}>
      <ul>
        {bars.map(([label, value], index) => (
          <li key={`${index}`}>
            <span class="truncated mono" title={label.slice(0, 500)}>
              {shortCellText(label)}
            </span>
            <span class="bar" aria-hidden="true">
              <span style={{ width: `${(Math.abs(value) / largest) * 100}%` }} />
            </span>
            <span class="numeric">{value.toLocaleString('en')}</span>
          </li>
        ))}
      </ul>
      {result.rows.length > maxBars ? (
        <p class="hint">
          The first {maxBars} of {countText(result.rows.length)}.
        </p>
      ) : null}
    </figure>
  );
}
