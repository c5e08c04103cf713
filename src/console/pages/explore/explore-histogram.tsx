import { useMemo } from 'preact/hooks';
import { durationText, type TimeRange } from '../../query/chosen-range.ts';
import { type Level, levelOf, levels } from '../../query/dataset-fields.ts';
import type { Question } from '../../query/explore-sql.ts';
import type { Result } from '../../query/parse-result.ts';
import { BarChart, type BarSeries } from '../../ui/bar-chart.tsx';
import { Icon } from '../../ui/icon.tsx';
import { countText, rangeTime } from '../../ui/time-text.ts';
import { ErrorBanner, Progress } from '../../ui/view-state.tsx';
import { bars } from './explore-query.ts';

interface HistogramProps {
  readonly asked: { readonly question: Question; readonly widthMs: number } | undefined;
  readonly onZoom: (range: TimeRange) => void;
  readonly onZoomOut: () => void;
}

const labels: Readonly<Record<Level, string>> = {
  fatal: 'fatal',
  error: 'error',
  warn: 'warning',
  info: 'info',
  debug: 'debug',
  trace: 'trace',
  none: 'rows',
};

/** Rows over time, by level. It has a request and an error of its own: the rows never wait for it. */
export function ExploreHistogram({ asked, onZoom, onZoomOut }: HistogramProps) {
  const { isLoading, result, error, retryAtMs } = bars.state.value;
  const drawn = useMemo(
    () => (result === undefined || asked === undefined ? undefined : describeBars(result, asked)),
    // The bars of an older question stay until those of the new one are there.
    [result],
  );
  return (
    <section class="histogram" aria-label="Rows over time">
      <Progress isActive={isLoading} label="Counting rows" />
      <div class="histogram-head">
        {drawn === undefined ? (
          <span class="muted">{isLoading ? 'Counting rows…' : ''}</span>
        ) : (
          <span class="numeric">
            <b>{countText(drawn.total)}</b>{' '}
            <span class="muted">rows · one bar is {durationText(drawn.widthMs)}</span>
          </span>
        )}
        <ul class="legend">
          {drawn?.totals.map(([level, count]) => (
            <li key={level} class={`level-${level}`}>
              <span class="swatch" aria-hidden="true" />
              {labels[level]} <span class="muted numeric">{countText(count)}</span>
            </li>
          ))}
        </ul>
        {isLoading ? (
          <button type="button" class="button small quiet" onClick={() => bars.cancel()}>
            <Icon name="stop" />
            Stop counting
          </button>
        ) : null}
      </div>
      {error === undefined ? null : <ErrorBanner error={error} retryAtMs={retryAtMs} />}
      {drawn === undefined ? (
        error === undefined ? (
          <div class="chart" />
        ) : null
      ) : (
        <>
          <BarChart
            startsMs={drawn.startsMs}
            widthMs={drawn.widthMs}
            fromMs={drawn.fromMs}
            toMs={drawn.toMs}
            series={drawn.series}
            height={104}
            onZoom={(fromMs, toMs) =>
              onZoom({ from: new Date(fromMs).toISOString(), to: new Date(toMs).toISOString() })
            }
            onZoomOut={onZoomOut}
          />
          <p class="visually-hidden">{drawn.summary}</p>
        </>
      )}
    </section>
  );
}

function describeBars(
  result: Result,
  { question: { bounds }, widthMs }: NonNullable<HistogramProps['asked']>,
) {
  const first = Math.floor(bounds.fromMs / widthMs) * widthMs;
  const count = Math.max(1, Math.ceil((bounds.toMs - first) / widthMs));
  const startsMs = Array.from({ length: count }, (_, index) => first + index * widthMs);
  const byLevel = new Map<Level, number[]>();
  for (const [start, level, rows] of result.rows) {
    const bar = Math.round((Date.parse(String(start)) - first) / widthMs);
    const name = levelOf(level);
    const values = byLevel.get(name) ?? new Array<number>(count).fill(0);
    byLevel.set(name, values);
    if (bar >= 0 && bar < count) values[bar] = (values[bar] ?? 0) + Number(rows);
  }
  const totals = levels.flatMap((level) => {
    const values = byLevel.get(level);
    return values === undefined ? [] : [[level, values.reduce((sum, value) => sum + value, 0)] as const];
  });
  const total = totals.reduce((sum, [, rows]) => sum + rows, 0);
  const series: BarSeries[] = totals
    // The least severe at the bottom: what is rare and matters is seen on top.
    .toReversed()
    .map(([level]) => ({
      label: labels[level],
      color: `--level-${level}`,
      values: byLevel.get(level) ?? [],
    }));
  const sums = startsMs.map((_, bar) => series.reduce((sum, { values }) => sum + (values[bar] ?? 0), 0));
  const peak = Math.max(...sums);
  const summary = `${countText(total)} rows from ${rangeTime(bounds.fromMs)} to ${rangeTime(bounds.toMs)}; most of them, ${countText(peak)}, in the ${durationText(widthMs)} from ${rangeTime(startsMs[sums.indexOf(peak)] ?? first)}. ${totals.map(([level, rows]) => `${labels[level]}: ${countText(rows)}`).join(', ')}.`;
  return { startsMs, series, totals, total, summary, widthMs, fromMs: first, toMs: first + count * widthMs };
}
