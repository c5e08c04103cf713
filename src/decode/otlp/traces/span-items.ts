/** The events and the links of spans: an array each, of as many columns as an item has fields. */
import { ArrayColumn } from '../../../columnar/array-column.ts';
import { Column64, StringColumn, UIntColumn } from '../../../columnar/columns.ts';
import { LowCardinalityColumn, MapColumn } from '../../../columnar/dictionary-columns.ts';
import type { BlockColumn } from '../../../columnar/native-block.ts';
import { limits } from '../../../limits/limits.ts';
import type { DecodeBounds } from '../../decode-bounds.ts';
import type { MemoryBudget } from '../../memory-budget.ts';
import { type Bits, clear } from '../../wire/protobuf-values.ts';
import { AttributeList } from '../attribute-list.ts';
import { type Draft, DraftText } from '../draft.ts';
import { HexId } from '../hex-id.ts';
import { isStorable } from '../record-times.ts';

/** What an item takes beside its texts, bytes, however little of the body it comes from. */
const itemBytes = 60;

/** What events and links have in common. */
class SpanItems {
  readonly attributes: AttributeList;
  droppedAttributes = 0;
  protected readonly draft: Draft;
  readonly #what: string;
  readonly #budget: MemoryBudget;
  readonly #attributeMaps: ArrayColumn<MapColumn>;
  readonly #dropped: ArrayColumn<UIntColumn>;
  readonly #others: ReadonlyArray<ArrayColumn<Column64 | UIntColumn | StringColumn | LowCardinalityColumn>>;

  constructor(
    what: 'event' | 'link',
    draft: Draft,
    budget: MemoryBudget,
    bounds: DecodeBounds,
    others: ReadonlyArray<ArrayColumn<Column64 | UIntColumn | StringColumn | LowCardinalityColumn>>,
  ) {
    this.draft = draft;
    this.#what = what;
    this.#budget = budget;
    this.#others = others;
    const maps = new MapColumn(`${what}s_attributes`);
    this.attributes = new AttributeList(draft, maps, bounds);
    this.#attributeMaps = new ArrayColumn(maps);
    this.#dropped = new ArrayColumn(new UIntColumn(`${what}s_dropped_attributes_count`, 'UInt32', 32, 64));
  }

  begin(): void {
    this.attributes.begin();
    this.droppedAttributes = 0;
  }

  /** @returns whether the caller is to append its own columns */
  end(): boolean {
    if (this.#dropped.pending === limits.maxItemsPerSpan) {
      this.draft.refuse(`it has more than ${limits.maxItemsPerSpan} ${this.#what}s`);
      return false;
    }
    this.#budget.spend(itemBytes, `the ${this.#what}s of its spans`);
    this.attributes.appendRow();
    this.#dropped.elements.append(this.droppedAttributes);
    return true;
  }

  /** Ends the span: its items become a row. */
  endRow(): void {
    for (const column of this.#arrays) column.endRow();
  }

  /** The span is refused: its items are dropped. */
  discardRow(): void {
    for (const column of this.#arrays) column.discardRow();
  }

  get #arrays(): ReadonlyArray<
    ArrayColumn<MapColumn | UIntColumn | Column64 | StringColumn | LowCardinalityColumn>
  > {
    return [...this.#others, this.#attributeMaps, this.#dropped];
  }

  get columns(): readonly BlockColumn[] {
    return this.#arrays;
  }
}

export class SpanEvents extends SpanItems {
  readonly time: Bits = { low: 0, high: 0 };
  readonly name = new DraftText();
  readonly #times: ArrayColumn<Column64>;
  readonly #names: ArrayColumn<LowCardinalityColumn>;

  constructor(draft: Draft, budget: MemoryBudget, bounds: DecodeBounds) {
    const times = new ArrayColumn(new Column64('events_timestamp', "DateTime64(9, 'UTC')", 64));
    const names = new ArrayColumn(new LowCardinalityColumn('events_name'));
    super('event', draft, budget, bounds, [times, names]);
    this.#times = times;
    this.#names = names;
  }

  override begin(): void {
    super.begin();
    clear(this.time);
    this.name.clear();
  }

  override end(): boolean {
    const { draft, name, time } = this;
    if (!isStorable(time)) draft.refuse('the time of an event is beyond the year 2106');
    if (!super.end()) return false;
    this.#times.elements.append(time.low, time.high);
    this.#names.elements.append(draft.bytesOf(name), name.start, name.end);
    return true;
  }
}

export class SpanLinks extends SpanItems {
  readonly traceId = new HexId(16, 'the trace id of a link');
  readonly spanId = new HexId(8, 'the span id of a link');
  readonly traceState = new DraftText();
  flags = 0;
  readonly #traceIds: ArrayColumn<StringColumn>;
  readonly #spanIds: ArrayColumn<StringColumn>;
  readonly #traceStates: ArrayColumn<StringColumn>;
  readonly #flags: ArrayColumn<UIntColumn>;

  constructor(draft: Draft, budget: MemoryBudget, bounds: DecodeBounds) {
    const traceIds = new ArrayColumn(new StringColumn('links_trace_id', 64));
    const spanIds = new ArrayColumn(new StringColumn('links_span_id', 64));
    const traceStates = new ArrayColumn(new StringColumn('links_trace_state', 64));
    const flags = new ArrayColumn(new UIntColumn('links_flags', 'UInt32', 32, 64));
    super('link', draft, budget, bounds, [traceIds, spanIds, traceStates, flags]);
    this.#traceIds = traceIds;
    this.#spanIds = spanIds;
    this.#traceStates = traceStates;
    this.#flags = flags;
  }

  override begin(): void {
    super.begin();
    this.traceId.clear();
    this.spanId.clear();
    this.traceState.clear();
    this.flags = 0;
  }

  override end(): boolean {
    if (!super.end()) return false;
    const { draft, traceState } = this;
    const idProblem = this.traceId.problem ?? this.spanId.problem;
    if (idProblem !== undefined) draft.warn(`${idProblem}, and is left out`);
    this.traceId.appendTo(this.#traceIds.elements);
    this.spanId.appendTo(this.#spanIds.elements);
    this.#traceStates.elements.append(draft.bytesOf(traceState), traceState.start, traceState.end);
    this.#flags.elements.append(this.flags);
    return true;
  }
}
