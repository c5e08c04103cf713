import { groupBy } from '../../lib/group-by.ts';
import type { Expression, FromItem } from '../ast.ts';
import { sqlError, unsupported } from '../sql-error.ts';
import type { CatalogColumn, Item, Row, Value } from '../system-catalog/catalog-value.ts';
import { findSystemRelation } from '../system-catalog/system-relations.ts';
import { noColumn } from './catalog-error.ts';
import { callFunction, rowsOf } from './catalog-functions.ts';
import { compareBy, converted } from './catalog-operators.ts';
import { isRowsFunction, relationFunctions, setFunctionTypes } from './catalog-rows-functions.ts';
import {
  type CellReaders,
  type CompileContext,
  type Compiled,
  type CompiledQuery,
  cellAt,
  type Frame,
  type Scope,
  type ScopeRelation,
} from './catalog-scope.ts';
import { compile, condition, rememberedUnless } from './compile-expression.ts';
import { commonTypeOf, isArrayType, mismatch } from './value-conversion.ts';

/**
 * Relations of FROM as nested loops, from left to right. A condition is checked as soon as all that it names
 * is there, and one that asks for a value of a column takes the rows from an index of that column, which is
 * made when it is first needed. So a join of two relations costs about as much as it has rows. Where the next
 * relation has no such condition yet, one behind it that has goes first: clients list relations in any order.
 */

/** A condition, and the places of the frame that it needs. */
interface Conjunct {
  readonly compiled: Compiled;
  readonly needs: ReadonlySet<number>;
  /** `column = …` of a relation, where it is one. */
  readonly equality: readonly Equality[];
  isPlaced: boolean;
}

interface Equality {
  readonly slot: number;
  readonly column: number;
  readonly value: Compiled;
  readonly needs: ReadonlySet<number>;
}

/** Where the rows of a relation come from. */
interface Source {
  readonly relation: ScopeRelation;
  readonly all: (frame: Frame) => readonly Item[];
  /** What finds rows with a value in a column; undefined where rows are others each time. */
  readonly finder: ((column: number) => Finder) | undefined;
  /** Whether it does so without an index over all rows. */
  readonly isDirect: (column: number) => boolean;
}

type Finder = (frame: Frame, value: Value) => readonly Item[];

const never = (): boolean => false;

type Step =
  | { readonly kind: 'source'; readonly source: Source }
  | { readonly kind: 'nested'; readonly steps: readonly PlannedStep[]; readonly slots: readonly number[] };

interface PlannedStep {
  readonly step: Step;
  readonly isOuter: boolean;
  /** For a LEFT JOIN, what makes a match; otherwise, what is checked once the step has its row. */
  readonly on: readonly Conjunct[];
  /** What is checked behind an outer join. */
  readonly after: readonly Conjunct[];
  /** The column whose index gives the rows, with a value that is known by then. */
  readonly lookup: Lookup | undefined;
}

/** The value that is looked for, and what finds its rows. */
interface Lookup {
  readonly value: Compiled;
  readonly find: Finder;
}

export type RunFrom = (frame: Frame, emit: () => void) => void;

export function compileFrom(
  items: readonly FromItem[],
  where: Expression | undefined,
  context: CompileContext,
): RunFrom {
  const planner = new Planner(context);
  for (const item of items) planner.add(item);
  const rest = where === undefined ? [] : planner.conjuncts(where);
  const steps = planner.plan(rest, new Set());
  const late = rest.filter((each) => !each.isPlaced);
  return (frame, emit) => {
    run(steps, 0, frame, context, () => {
      if (late.every(({ compiled }) => compiled.run(frame) === true)) emit();
    });
  };
}

interface Draft {
  readonly step: Step;
  readonly slots: readonly number[];
  readonly isOuter: boolean;
  readonly on: readonly Conjunct[];
}

class Planner {
  readonly #context: CompileContext;
  readonly #drafts: Draft[] = [];
  readonly #inner: Conjunct[] = [];

  constructor(context: CompileContext) {
    this.#context = context;
  }

  /** Takes the relations of an item, each behind those to its left. */
  add(item: FromItem): void {
    if (item.kind !== 'join') {
      const source = compileSource(item, this.#context);
      const { slot } = source.relation;
      this.#drafts.push({ step: { kind: 'source', source }, slots: [slot], isOuter: false, on: [] });
      return;
    }
    if (item.type === 'FULL') throw unsupported('FULL JOIN in a query of the catalog', item.at);
    if (item.alias !== undefined || item.usingAlias !== undefined) {
      throw unsupported('An alias for a join in a query of the catalog', item.at);
    }
    const [left, right] = item.type === 'RIGHT' ? [item.right, item.left] : [item.left, item.right];
    const before = this.#context.scope.relations.length;
    this.add(left);
    const middle = this.#context.scope.relations.length;
    const isOuter = item.type === 'LEFT' || item.type === 'RIGHT';
    if (right.kind !== 'join' && !isOuter) this.add(right);
    const nested = right.kind === 'join' || isOuter ? new Planner(this.#context) : undefined;
    nested?.add(right);
    const on = [
      ...(item.on === undefined ? [] : this.conjuncts(item.on)),
      ...this.#merged(item, before, middle),
    ];
    if (nested === undefined) {
      this.#inner.push(...on);
      return;
    }
    const { relations } = this.#context.scope;
    const slots = relations.slice(middle).map(({ slot }) => slot);
    if (!isOuter) {
      this.#inner.push(...on);
      this.#drafts.push({
        step: { kind: 'nested', steps: nested.plan([], new Set()), slots },
        slots,
        isOuter,
        on: [],
      });
      return;
    }
    const known = new Set(relations.slice(0, middle).map(({ slot }) => slot));
    const [only, second] = nested.#drafts;
    const step: Step =
      only?.step.kind === 'source' && second === undefined && nested.#inner.length === 0
        ? only.step
        : { kind: 'nested', steps: nested.plan(on, known), slots };
    this.#drafts.push({ step, slots, isOuter, on });
  }

  /** The conditions that AND joins. */
  conjuncts(expression: Expression): Conjunct[] {
    if (expression.kind === 'and') return expression.args.flatMap((arg) => this.conjuncts(arg));
    const { scope } = this.#context;
    const { result, needs } = watched(scope, () =>
      condition(compile(expression, this.#context), this.#context),
    );
    return [{ compiled: result, needs, equality: this.#equality(expression), isPlaced: false }];
  }

  #equality(expression: Expression): readonly Equality[] {
    if (expression.kind !== 'operator' || expression.name !== '=') return [];
    const [left, right] = expression.args;
    if (left === undefined || right === undefined) return [];
    return [...this.#side(left, right), ...this.#side(right, left)];
  }

  #side(column: Expression, other: Expression): readonly Equality[] {
    if (column.kind !== 'column') return [];
    const context = this.#context;
    const { scope, catalog } = context;
    const name = column.path.at(-1) ?? '';
    const found = watched(scope, () => scope.column(column.path, column.at));
    const [slot, second] = [...found.needs];
    const relation = slot === undefined || second !== undefined ? undefined : scope.relations[slot];
    const index = relation?.columns.findIndex((each) => each.name === name) ?? -1;
    if (slot === undefined || index < 0) return [];
    const { result: value, needs } = watched(scope, () => compile(other, context));
    const types = [found.result.type, value.type];
    const type = commonTypeOf(types);
    if (isArrayType(type) || mismatch(types) !== undefined) return [];
    const isSame = type === found.result.type || relation === undefined;
    const isName = type === 'text' && ['name', 'char', 'text', 'varchar'].includes(found.result.type);
    const isNumber = typeof value.type === 'string' && type !== 'text';
    if (!isSame && !isName && !isNumber) return [];
    return [{ slot, column: index, value: converted(value, type, catalog), needs }];
  }

  /** USING and NATURAL as conditions. */
  #merged(item: Extract<FromItem, { kind: 'join' }>, before: number, middle: number): readonly Conjunct[] {
    const { relations } = this.#context.scope;
    const [left, right] = [relations.slice(before, middle), relations.slice(middle)];
    const has = (side: readonly ScopeRelation[], name: string): ScopeRelation | undefined =>
      side.find(({ columns, merged }) => !merged.has(name) && columns.some((column) => column.name === name));
    const shared = item.natural
      ? right.flatMap(({ columns }) => columns.map(({ name }) => name)).filter((name) => has(left, name))
      : item.using;
    return shared.map((name) => {
      const [a, b] = [has(left, name), has(right, name)];
      if (a === undefined || b === undefined)
        throw noColumn(`column "${name}" specified in USING clause does not exist`, undefined);
      const sides = [a, b].map((relation): Compiled => {
        const index = relation.columns.findIndex((column) => column.name === name);
        const type = relation.columns[index]?.type ?? 'text';
        const read = relation.cell(index);
        return { type, run: (frame) => cellAt(frame, relation.slot, read) };
      });
      b.merged.add(name);
      const [first, second] = sides;
      if (first === undefined || second === undefined) throw new Error('BUG: a join has two sides');
      const type = commonTypeOf([first.type, second.type]);
      const { catalog } = this.#context;
      const compiled = compareBy('=', converted(first, type, catalog), converted(second, type, catalog));
      const column = b.columns.findIndex((each) => each.name === name);
      return {
        compiled,
        needs: new Set([a.slot, b.slot]),
        equality: [{ slot: b.slot, column, value: first, needs: new Set([a.slot]) }],
        isPlaced: false,
      };
    });
  }

  /** Gives each condition its place. @param known places that have their rows before the first step */
  plan(where: readonly Conjunct[], known: ReadonlySet<number>): readonly PlannedStep[] {
    const bound = new Set(known);
    const conditions = [...this.#inner, ...where];
    const steps: PlannedStep[] = [];
    const left = [...this.#drafts];
    while (left.length > 0) {
      const [draft] = left.splice(nextOf(left, conditions, bound), 1);
      if (draft === undefined) break;
      const { step, slots, isOuter, on } = draft;
      const before = new Set(bound);
      for (const slot of slots) bound.add(slot);
      const placed = conditions.filter(
        (each) => !each.isPlaced && [...each.needs].every((slot) => bound.has(slot)),
      );
      for (const each of placed) each.isPlaced = true;
      const checked = isOuter ? on : [...on, ...placed];
      const lookup = lookupOf(step, checked, before);
      steps.push({ step, isOuter, on: checked, after: isOuter ? placed : [], lookup });
    }
    return steps;
  }
}

/** The relation that comes next: the first one whose rows an index gives, of those that may change places. */
function nextOf(
  drafts: readonly Draft[],
  conditions: readonly Conjunct[],
  bound: ReadonlySet<number>,
): number {
  const isFixed = ({ step, isOuter }: Draft): boolean =>
    isOuter || step.kind === 'nested' || step.source.finder === undefined;
  const fixed = drafts.findIndex(isFixed);
  const movable = fixed < 0 ? drafts : drafts.slice(0, fixed);
  const found = movable.findIndex(({ step }) => lookupOf(step, conditions, bound) !== undefined);
  return Math.max(0, found);
}

/**
 * A condition that gives the rows of a relation by their value in a column, where what it needs is there: one
 * for which no index has to be made, if there is such a one.
 */
function lookupOf(
  step: Step,
  conditions: readonly Conjunct[],
  bound: ReadonlySet<number>,
): Lookup | undefined {
  if (step.kind === 'nested' || step.source.finder === undefined) return undefined;
  const { relation, finder, isDirect } = step.source;
  const usable = conditions
    .flatMap(({ equality }) => equality)
    .filter((each) => each.slot === relation.slot && [...each.needs].every((need) => bound.has(need)));
  const found = usable.find(({ column }) => isDirect(column)) ?? usable[0];
  return found && { value: found.value, find: finder(found.column) };
}

/** What a part of the compilation names of a query. */
function watched<Result>(scope: Scope, work: () => Result): { result: Result; needs: ReadonlySet<number> } {
  const before = scope.used;
  scope.used = new Set();
  const result = work();
  const needs = scope.used;
  scope.used = new Set([...before, ...needs]);
  return { result, needs };
}

function run(
  steps: readonly PlannedStep[],
  at: number,
  frame: Frame,
  context: CompileContext,
  emit: () => void,
): void {
  const planned = steps[at];
  if (planned === undefined) {
    emit();
    return;
  }
  const { step, isOuter, on, after, lookup } = planned;
  let matched = false;
  const take = (): void => {
    if (!on.every(({ compiled }) => compiled.run(frame) === true)) return;
    matched = true;
    if (isOuter && !after.every(({ compiled }) => compiled.run(frame) === true)) return;
    run(steps, at + 1, frame, context, emit);
  };
  if (step.kind === 'nested') run(step.steps, 0, frame, context, take);
  else {
    const { slot } = step.source.relation;
    for (const row of rowsFor(step.source, lookup, frame)) {
      context.spend(1);
      frame.rows[slot] = row;
      take();
    }
    frame.rows[slot] = undefined;
  }
  if (!isOuter || matched) return;
  for (const slot of step.kind === 'nested' ? step.slots : [step.source.relation.slot])
    frame.rows[slot] = undefined;
  if (after.every(({ compiled }) => compiled.run(frame) === true)) run(steps, at + 1, frame, context, emit);
}

/** The rows that can fulfil the conditions: from an index, where there is one. */
function rowsFor({ all }: Source, lookup: Lookup | undefined, frame: Frame): readonly Item[] {
  if (lookup === undefined) return all(frame);
  const wanted = lookup.value.run(frame);
  return wanted === null ? [] : lookup.find(frame, wanted);
}

function compileSource(item: Exclude<FromItem, { kind: 'join' }>, context: CompileContext): Source {
  switch (item.kind) {
    case 'table':
      return tableSource(item, context);
    case 'derived': {
      const parent = item.lateral ? context.scope : context.scope.parent;
      const query = context.query(item.query, { parent, ctes: context.ctes });
      return derivedSource(query, item, context);
    }
    case 'function':
      return functionSource(item, context);
  }
}

/** Columns under the names that the alias gives them. */
function renamed(
  columns: readonly CatalogColumn[],
  names: readonly string[] | undefined,
): readonly CatalogColumn[] {
  return columns.map((column, index) => ({ ...column, name: names?.[index] ?? column.name }));
}

function tableSource(item: Extract<FromItem, { kind: 'table' }>, context: CompileContext): Source {
  const { path, alias, at } = item;
  const name = alias?.name ?? path.at(-1);
  const cte = path.length === 1 ? context.ctes.get(path[0] ?? '') : undefined;
  if (cte !== undefined) {
    const relation = context.scope.add(name, renamed(cte.columns, alias?.columns));
    return { relation, all: () => cte.rows(), finder: undefined, isDirect: never };
  }
  const system = findSystemRelation(path);
  if (system === undefined)
    throw sqlError('sql_unknown_relation', `relation "${path.join('.')}" does not exist`, at);
  const { all, finder, cell } = context.rows.of(system);
  const cellOf: CellReaders = (column) => {
    const of = system.columns[column];
    return of === undefined ? () => null : cell(of);
  };
  const relation = context.scope.add(name, renamed(system.columns, alias?.columns), {
    oid: system.oid,
    cell: cellOf,
  });
  const direct = (column: number) => finder(system.columns[column]?.name ?? '');
  return {
    relation,
    all,
    isDirect: (column) => direct(column) !== undefined,
    finder: (column) => {
      const find = direct(column);
      if (find !== undefined) return (_, value) => find(value);
      const read = cellOf(column);
      return (_, value) => indexed(all(), column, read, context).get(value) ?? [];
    },
  };
}

/** A function in FROM that gives one value. */
function oneRow(name: string, args: readonly Compiled[], context: CompileContext, at: number | undefined) {
  const { type, run: compute } = callFunction(name, args, context, at);
  return { type, rows: (frame: Frame): readonly Value[] => [compute(frame)] };
}

/** Rows by the values of a column, as long as the rows are in use. */
const indexes = new WeakMap<readonly Item[], Map<number, ReadonlyMap<Value, readonly Item[]>>>();

function indexed(
  rows: readonly Item[],
  column: number,
  read: (item: Item) => Value,
  { spend }: CompileContext,
): ReadonlyMap<Value, readonly Item[]> {
  const ofRows = indexes.get(rows) ?? new Map<number, ReadonlyMap<Value, readonly Item[]>>();
  indexes.set(rows, ofRows);
  const known = ofRows.get(column);
  if (known !== undefined) return known;
  spend(rows.length);
  const made = groupBy(rows, read);
  ofRows.set(column, made);
  return made;
}

function derivedSource(
  query: CompiledQuery,
  { alias }: Extract<FromItem, { kind: 'derived' }>,
  context: CompileContext,
): Source {
  const isLateral = query.isCorrelated;
  const relation = context.scope.add(alias?.name, renamed(query.columns, alias?.columns));
  const all = rememberedUnless(isLateral, query.rows);
  return {
    relation,
    all: (frame) => all(frame),
    isDirect: never,
    finder: isLateral
      ? undefined
      : (column) => {
          const read = relation.cell(column);
          return (frame, value) => indexed(all(frame), column, read, context).get(value) ?? [];
        },
  };
}

function functionSource(item: Extract<FromItem, { kind: 'function' }>, context: CompileContext): Source {
  const { call, alias, ordinality, at } = item;
  const ownRelation = Object.hasOwn(relationFunctions, call.name) ? relationFunctions[call.name] : undefined;
  if (ownRelation !== undefined) {
    const path = ['pg_catalog', ownRelation];
    return tableSource(
      { kind: 'table', path, alias: alias ?? { name: call.name, columns: [] }, at },
      context,
    );
  }
  // A function in FROM sees the relations to its left.
  const args = call.args.map((arg) => compile(arg, context));
  const single =
    call.name === 'unnest'
      ? args.map((arg) => rowsOf(call.name, [arg], context, at))
      : [
          isRowsFunction(call.name)
            ? rowsOf(call.name, args, context, at)
            : oneRow(call.name, args, context, at),
        ];
  const name = alias?.name ?? call.name;
  const plain = single.map(({ type }): CatalogColumn => ({ name, type }));
  if (call.name === 'pg_get_keywords') plain.splice(0, 1, { name: 'word', type: 'text' });
  const fields = single.length === 1 ? setFunctionTypes[single[0]?.type ?? ''] : undefined;
  const columns = [...(fields ?? plain), ...(ordinality ? [{ name: 'ordinality', type: 'int8' }] : [])];
  const relation = context.scope.add(name, renamed(columns, alias?.columns));
  const all = (frame: Frame): readonly Row[] => {
    const lists = single.map(({ rows }) => rows(frame));
    const length = lists.reduce((most, list) => Math.max(most, list.length), 0);
    context.keep(length * columns.length);
    return Array.from({ length }, (_, index) => {
      const values = lists.map((list) => list[index] ?? null);
      const row = fields === undefined ? values : Array.isArray(values[0]) ? [...values[0]] : [];
      return ordinality ? [...row, index + 1] : row;
    });
  };
  return { relation, all, finder: undefined, isDirect: never };
}
