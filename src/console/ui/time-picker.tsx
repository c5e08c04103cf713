import { useRef, useState } from 'preact/hooks';
import {
  boundsOf,
  durationMs,
  isRelative,
  parseRange,
  presets,
  type TimeRange,
} from '../query/chosen-range.ts';
import { Icon } from './icon.tsx';
import { ZoneSelect } from './shell.tsx';
import { parseTimeText, rangeTime, zoneName } from './time-text.ts';

interface TimePickerProps {
  readonly range: TimeRange;
  readonly onChange: (range: TimeRange) => void;
}

export function rangeLabel(range: TimeRange): string {
  if (isRelative(range)) return presets.find(([from]) => from === range.from)?.[1] ?? `Last ${range.from}`;
  const show = (text: string): string =>
    durationMs(text) === undefined ? rangeTime(Date.parse(text)) : text;
  return `${show(range.from)} to ${range.to === 'now' ? 'now' : show(range.to)}`;
}

/** The time of a page: presets, something typed, or two times. */
export function TimePicker({ range, onChange }: TimePickerProps) {
  const popover = useRef<HTMLDivElement>(null);
  const [typed, setTyped] = useState('');
  const [isWrong, setIsWrong] = useState(false);
  const choose = (next: TimeRange) => {
    popover.current?.hidePopover();
    setTyped('');
    setIsWrong(false);
    onChange(next);
  };
  const shift = (direction: -1 | 1) => {
    const bounds = boundsOf(range, Date.now());
    if (bounds === undefined) return;
    const by = ((bounds.toMs - bounds.fromMs) / 2) * direction;
    onChange({
      from: new Date(bounds.fromMs + by).toISOString(),
      to: new Date(bounds.toMs + by).toISOString(),
    });
  };
  return (
    <div class="time-picker">
      <button
        type="button"
        class="button shift"
        aria-label="Earlier"
        title="Half of the range earlier"
        onClick={() => shift(-1)}
      >
        <Icon name="chevron" />
      </button>
      <button
        type="button"
        class="button time-button"
        popovertarget="time-popover"
        data-key="t"
        title="Choose the time (t)"
      >
        <Icon name="clock" />
        <span class="truncated numeric">{rangeLabel(range)}</span>
        <span class="muted zone">{zoneName()}</span>
      </button>
      <button
        type="button"
        class="button shift"
        aria-label="Later"
        title="Half of the range later"
        onClick={() => shift(1)}
      >
        <Icon name="chevron" />
      </button>
      <div
        ref={popover}
        id="time-popover"
        popover="auto"
        class="time-popover"
        onToggle={(event) => {
          if (event.newState === 'open') {
            popover.current?.querySelector<HTMLInputElement>('input')?.focus();
          }
        }}
      >
        <form
          class="typed"
          onSubmit={(event) => {
            event.preventDefault();
            const next = parseRange(typed, parseTimeText);
            if (next === undefined) setIsWrong(true);
            else choose(next);
          }}
        >
          <label class="labelled">
            Range
            <input
              class="field"
              placeholder="2h, or 2026-01-31 08:00 to 2026-01-31 09:00"
              value={typed}
              spellcheck={false}
              aria-invalid={isWrong}
              onInput={(event) => {
                setTyped(event.currentTarget.value);
                setIsWrong(false);
              }}
            />
          </label>
          {isWrong ? (
            <p class="hint wrong" role="alert">
              Write a duration such as 15m, 2h or 7d, or two times with "to" between them.
            </p>
          ) : null}
        </form>
        <div class="columns">
          <ul class="presets" aria-label="Ranges">
            {presets.map(([from, label]) => (
              <li key={from}>
                <button
                  type="button"
                  class="button quiet small"
                  aria-pressed={range.from === from && range.to === 'now'}
                  onClick={() => choose({ from, to: 'now' })}
                >
                  {label}
                </button>
              </li>
            ))}
          </ul>
          <Calendar range={range} onChange={choose} />
        </div>
      </div>
    </div>
  );
}

function Calendar({ range, onChange }: TimePickerProps) {
  const form = useRef<HTMLFormElement>(null);
  const bounds = boundsOf(range, Date.now());
  const shown = (ms: number | undefined): string =>
    ms === undefined ? '' : rangeTime(ms).replace(' ', 'T').slice(0, 19);
  const apply = () => {
    if (form.current === null) return;
    const data = new FormData(form.current);
    const [fromMs, toMs] = ['from', 'to'].map((name) => parseTimeText(String(data.get(name) ?? '')));
    if (fromMs === undefined || toMs === undefined || !(fromMs < toMs)) return;
    onChange({ from: new Date(fromMs).toISOString(), to: new Date(toMs).toISOString() });
  };
  return (
    <form
      ref={form}
      class="calendar"
      onSubmit={(event) => {
        event.preventDefault();
        apply();
      }}
    >
      <label class="labelled">
        From
        <input
          class="field"
          type="datetime-local"
          step="1"
          name="from"
          defaultValue={shown(bounds?.fromMs)}
          required
        />
      </label>
      <label class="labelled">
        To
        <input
          class="field"
          type="datetime-local"
          step="1"
          name="to"
          defaultValue={shown(bounds?.toMs)}
          required
        />
      </label>
      <label class="labelled" for="time-zone">
        Times in
        <ZoneSelect id="time-zone" />
      </label>
      <button type="submit" class="button">
        Apply
      </button>
    </form>
  );
}
