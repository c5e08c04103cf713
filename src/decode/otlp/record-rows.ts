import { UIntColumn } from '../../columnar/columns.ts';
import { MapColumn } from '../../columnar/dictionary-columns.ts';
import type { BlockColumn } from '../../columnar/native-block.ts';
import { AppError } from '../../errors.ts';
import { limits } from '../../limits/limits.ts';
import { noCounts } from '../../model/counts.ts';
import { requestBounds } from '../decode-bounds.ts';
import { MemoryBudget } from '../memory-budget.ts';
import type { DecodedBody } from '../task.ts';
import { AttributeList } from './attribute-list.ts';
import { Draft, type DraftText } from './draft.ts';
import { ResourceColumns, type ResourceDraft, type ScopeDraft } from './resource-columns.ts';

/** What a row takes beside its texts, bytes, however little of the body it comes from. */
const rowBytes = 100;

/** What the readers of an export request fill, in both encodings. */
export interface ExportDraft {
  readonly resource: ResourceDraft;
  readonly scope: ScopeDraft;
  beginResource(): void;
  endResource(): void;
  beginScope(): void;
  endScope(): void;
}

/**
 * The part of the rows of `logs` and `spans` that both have: the attributes of a record, its resource and its
 * scope; and which records were refused.
 *
 * A record becomes a row when it has ended and nothing is wrong with it. The columns of its scope and its
 * resource follow when these have ended, for all of their rows, since they may come behind their records.
 */
export class RecordRows implements ExportDraft {
  readonly record: Draft;
  readonly attributes: AttributeList;
  readonly budget: MemoryBudget;
  droppedAttributes = 0;
  rows = 0;
  readonly #what: string;
  readonly #attributeColumn: MapColumn;
  readonly #droppedColumn: UIntColumn;
  readonly #shared: ResourceColumns;
  readonly #problems: string[] = [];
  #refused = 0;
  /** Records that are stored, but for a part of them. */
  #warned = 0;
  #resourceStart = 0;
  #scopeStart = 0;

  /** @param what a record is called, for messages */
  constructor(body: Buffer, what: string, expectedRows: number, bounds = requestBounds) {
    this.#what = what;
    this.budget = new MemoryBudget(bounds.maxInflatedBytes);
    this.record = new Draft(body);
    this.#attributeColumn = new MapColumn('attributes', expectedRows);
    this.#droppedColumn = new UIntColumn('dropped_attributes_count', 'UInt32', 32, expectedRows);
    this.attributes = new AttributeList(this.record, this.#attributeColumn, bounds);
    this.#shared = new ResourceColumns(body, expectedRows, this.budget, bounds);
  }

  get resource(): ResourceDraft {
    return this.#shared.resource;
  }

  get scope(): ScopeDraft {
    return this.#shared.scope;
  }

  beginResource(): void {
    this.#resourceStart = this.rows;
    this.resource.begin();
  }

  beginScope(): void {
    this.#scopeStart = this.rows;
    this.scope.begin();
  }

  beginRecord(): void {
    this.record.begin();
    this.attributes.begin();
    this.droppedAttributes = 0;
  }

  /**
   * Ends a record: a row if nothing is wrong with it, else a refusal.
   * @returns whether the caller is to append its own columns
   * @throws AppError `body_too_large`
   */
  endRecord(): boolean {
    if (this.rows + this.#refused === limits.maxRecordsPerRequest) {
      throw new AppError(
        'body_too_large',
        `The request has more than ${limits.maxRecordsPerRequest} records: send fewer at a time`,
      );
    }
    const problem = this.record.problem ?? this.scope.problem ?? this.resource.problem;
    if (problem !== undefined) {
      this.#report(problem);
      this.#refused++;
      return false;
    }
    const warning = this.record.warning ?? this.scope.warning ?? this.resource.warning;
    if (warning !== undefined) {
      this.#report(warning);
      this.#warned++;
    }
    this.budget.spend(rowBytes, 'its records: send fewer at a time');
    this.rows++;
    this.attributes.appendRow();
    this.#droppedColumn.append(this.droppedAttributes);
    return true;
  }

  /** Notes what is wrong with the record that ends. */
  #report(problem: string): void {
    if (this.#problems.length === limits.maxReportedProblems) return;
    const number = this.rows + this.#refused + 1;
    this.#problems.push(`${this.#what} ${number} of the request: ${problem}`);
  }

  /** @throws AppError `bad_record` if the scope came behind its records and cannot be stored */
  endScope(): void {
    const rows = this.rows - this.#scopeStart;
    if (rows === 0) return;
    checkLate(this.scope.problem, 'scope');
    this.#shared.appendScope(rows);
  }

  /** @throws AppError `bad_record` if the resource came behind its records and cannot be stored */
  endResource(): void {
    const rows = this.rows - this.#resourceStart;
    if (rows === 0) return;
    checkLate(this.resource.problem, 'resource');
    this.#shared.appendResource(rows);
  }

  /** A text of the record that is too long is refused. */
  checkLength(text: DraftText, what: string): void {
    if (text.length <= limits.maxAttributeValueBytes) return;
    this.record.refuse(
      `its ${what} has ${text.length} bytes, at most ${limits.maxAttributeValueBytes} are allowed`,
    );
  }

  get columns(): readonly BlockColumn[] {
    return [this.#attributeColumn, this.#droppedColumn, ...this.#shared.columns];
  }

  /**
   * What was stored and what was not.
   * @param counted under which the records are counted
   */
  outcome(counted: 'logs' | 'spans'): Pick<DecodedBody, 'counts' | 'refused'> {
    const problems = this.#refused + this.#warned;
    const counts = { ...noCounts, [counted]: this.rows, problems };
    if (problems === 0) return { counts };
    const refused = { ...noCounts, [counted]: this.#refused, problems };
    return { counts, refused: { counts: refused, problems: this.#problems } };
  }
}

function checkLate(problem: string | undefined, what: string): void {
  if (problem !== undefined) throw new AppError('bad_record', `A ${what} after its records: ${problem}`);
}
