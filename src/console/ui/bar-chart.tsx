import { useEffect, useRef } from 'preact/hooks';
import uPlot from 'uplot';
import { themeVersion, timeZone } from '../state/settings.ts';
import { canvasColors } from './canvas-colors.ts';
import { clockTime, countText, dayOf } from './time-text.ts';

export interface BarSeries {
  readonly label: string;
  /** A variable of the design system. */
  readonly color: `--${string}`;
  /** For each bar. */
  readonly values: readonly number[];
}

interface BarChartProps {
  /** The beginning of each bar, in milliseconds since 1970; equal distances. */
  readonly startsMs: readonly number[];
  readonly widthMs: number;
  readonly fromMs: number;
  readonly toMs: number;
  /** From the bottom to the top. */
  readonly series: readonly BarSeries[];
  readonly height: number;
  /** Told of the range that was marked with the mouse. */
  readonly onZoom: (fromMs: number, toMs: number) => void;
  readonly onZoomOut: () => void;
}

/** Bars over time, stacked; a range can be marked. The text beside it says what it shows (`summary`). */
export function BarChart(props: BarChartProps) {
  const { startsMs, widthMs, fromMs, toMs, series, height } = props;
  const holder = useRef<HTMLDivElement>(null);
  const tip = useRef<HTMLDivElement>(null);
  const latest = useRef(props);
  latest.current = props;
  const version = themeVersion.value;
  const zone = timeZone.value;
  useEffect(() => {
    const element = holder.current;
    const label = tip.current;
    if (element === null || label === null) return undefined;
    const names = ['--text-muted', '--line', ...series.map(({ color }) => color)];
    const colors = canvasColors(element, names);
    const font = `11px ${getComputedStyle(element).fontFamily}`;
    // The tallest sum is drawn first, and the smaller ones over it.
    const sums = series.map((_, index) =>
      startsMs.map((_start, bar) =>
        series.slice(0, index + 1).reduce((sum, { values }) => sum + (values[bar] ?? 0), 0),
      ),
    );
    const order = series.map((_, index) => index).reverse();
    const middles = startsMs.map((start) => (start + widthMs / 2) / 1000);
    const data = [middles, ...order.map((index) => sums[index] ?? [])] as unknown as uPlot.AlignedData;
    const bars = uPlot.paths.bars?.({ size: [0.86, 60], gap: 1 });
    const axis = { stroke: colors('--text-muted'), font, ticks: { show: false } };
    const options: uPlot.Options = {
      width: element.clientWidth,
      height,
      padding: [6, 20, 0, 0],
      legend: { show: false },
      scales: {
        x: { time: true, range: () => [fromMs / 1000, toMs / 1000] },
        y: { range: (_plot, _min, max) => [0, Math.max(1, max * 1.05)] },
      },
      cursor: { y: false, points: { show: false }, drag: { x: true, y: false, setScale: false } },
      series: [
        {},
        ...order.map((index) => ({
          ...filled(colors(series[index]?.color ?? '--line')),
          ...(bars === undefined ? {} : { paths: bars }),
        })),
      ],
      axes: [
        {
          ...axis,
          size: 22,
          gap: 3,
          grid: { show: false },
          space: 70,
          values: (_plot, seconds) => seconds.map((second) => axisTime(second * 1000, toMs - fromMs)),
        },
        {
          ...axis,
          size: 46,
          gap: 4,
          space: 26,
          grid: { stroke: colors('--line'), width: 1 },
          values: (_plot, values) => values.map((value) => (Number.isInteger(value) ? compact(value) : '')),
        },
      ],
      hooks: {
        setSelect: [
          (plot) => {
            const { left, width } = plot.select;
            if (width < 4) return;
            const from = plot.posToVal(left, 'x') * 1000;
            const to = plot.posToVal(left + width, 'x') * 1000;
            plot.setSelect({ left: 0, width: 0, top: 0, height: 0 }, false);
            latest.current.onZoom(Math.floor(from), Math.ceil(to));
          },
        ],
        setCursor: [
          (plot) => {
            const bar = plot.cursor.idx;
            const left = plot.cursor.left ?? -1;
            if (bar === null || bar === undefined || left < 0) {
              label.hidden = true;
              return;
            }
            const start = startsMs[bar] ?? 0;
            const lines = series
              .filter(({ values }) => (values[bar] ?? 0) > 0)
              .map((each) => `${each.label} ${countText(each.values[bar] ?? 0)}`);
            label.textContent = [`${dayOf(start)} ${clockTime(start)}`, ...lines.reverse()].join('\n');
            label.hidden = false;
            const room = element.clientWidth - label.offsetWidth - 8;
            label.style.left = `${Math.max(0, Math.min(left + 60, room))}px`;
          },
        ],
      },
    };
    const plot = new uPlot(options, data, element);
    plot.over.addEventListener('dblclick', () => latest.current.onZoomOut());
    const observer = new ResizeObserver(() => plot.setSize({ width: element.clientWidth, height }));
    observer.observe(element);
    return () => {
      observer.disconnect();
      plot.destroy();
    };
  }, [startsMs, series, fromMs, toMs, widthMs, height, version, zone]);
  return (
    <div class="chart" ref={holder} aria-hidden="true">
      <div class="chart-tip" ref={tip} hidden />
    </div>
  );
}

const filled = (color: string): uPlot.Series => ({
  stroke: color,
  fill: color,
  width: 0,
  points: { show: false },
});

/** `12k` */
const compactFormat = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 });
export const compact = (value: number): string => compactFormat.format(value);

/** A day, a minute or a second, whichever tells the ticks of a range apart. */
export function axisTime(ms: number, rangeMs: number): string {
  const clock = clockTime(ms);
  if (rangeMs > 2 * 86_400_000) return clock === '00:00:00' ? dayOf(ms) : `${dayOf(ms)} ${clock.slice(0, 5)}`;
  return rangeMs > 600_000 ? clock.slice(0, 5) : clock;
}
