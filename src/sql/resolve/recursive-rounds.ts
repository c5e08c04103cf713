import { apply, columnOf } from '../build.ts';
import {
  type Aggregate,
  type CteIr,
  type Expr,
  type OutputColumn,
  outputName,
  type QueryIr,
  type SelectIr,
  type SetIr,
} from '../ir.ts';
import { bool, int8 } from '../types.ts';
import type { Environment } from './environment.ts';
import { plainSelect } from './subquery.ts';

/**
 * `WITH RECURSIVE … UNION`, of which the store knows the form with ALL alone. A round is one row of two
 * arrays: keys of the rows of all rounds so far, and the rows that are new in it. Each round takes its rows
 * from the second one, and ends the query if it finds none whose key is not in the first. So rounds are
 * bounded as those of `UNION ALL` are (`maxRecursionDepth`), and their rows by the memory of a query.
 */
export class DistinctRounds {
  readonly #name: string;
  readonly #columns: readonly OutputColumn[];
  readonly #env: Environment;

  /** @param name of the table of rounds */
  constructor(name: string, columns: readonly OutputColumn[], env: Environment) {
    this.#name = name;
    this.#columns = columns;
    this.#env = env;
  }

  /** The rows of the rounds that are read: of the last one within the recursion, of all outside of it. */
  rows(): SelectIr {
    const [round, row] = [this.#env.alias(), this.#env.alias()];
    const joined = apply('rows of a round', int8, (a) => `arrayJoin(${a})`, place(round, 1));
    const items = this.#columns.map(({ type }, index) =>
      apply(`part ${index + 1}`, type, (t) => `tupleElement(${t}, ${index + 1})`, place(row, 0)),
    );
    return {
      ...plainSelect(items),
      columns: this.#columns,
      from: {
        kind: 'derived',
        alias: row,
        query: { ...plainSelect([joined]), from: { kind: 'cte', alias: round, cte: this.#name } },
      },
    };
  }

  /** The rounds, of the first and the second part of the query. */
  all({ left, right }: SetIr): CteIr {
    const first = this.#env.alias();
    const row = rowOf(first, this.#columns);
    const before = { kind: 'cte', alias: this.#env.alias(), cte: this.#name } as const;
    const [found, freshRows] = [this.#env.alias(), this.#freshRows(right)];
    const next: SelectIr = {
      ...plainSelect([
        apply(
          'all keys',
          int8,
          (all, keys) => `arrayConcat(${all}, ${keys})`,
          place(before.alias, 0),
          place(found, 0),
        ),
        place(found, 1),
      ]),
      from: {
        kind: 'join',
        type: 'CROSS',
        left: before,
        right: { kind: 'derived', alias: found, query: freshRows },
        on: undefined,
      },
      where: apply('not empty', int8, (a) => `notEmpty(${a})`, place(found, 1)),
    };
    return {
      name: this.#name,
      recursive: true,
      query: {
        kind: 'set',
        columns: this.#columns,
        operator: 'UNION',
        all: true,
        left: {
          ...plainSelect([gather('groupUniqArray', keyOf(row)), gather('groupUniqArray', row)]),
          from: { kind: 'derived', alias: first, query: left },
        },
        right: next,
      },
    };
  }

  /** Of what the second part gives, the rows that no round had, with their keys: each as an array. */
  #freshRows(right: QueryIr): SelectIr {
    const [made, distinct, known, keys] = [0, 1, 2, 3].map(() => this.#env.alias()) as Four;
    const rows: SelectIr = {
      ...plainSelect([rowOf(made, this.#columns)]),
      distinct: true,
      from: { kind: 'derived', alias: made, query: right },
    };
    const row = place(distinct, 0);
    const keyed: SelectIr = {
      ...plainSelect([row, keyOf(row)]),
      from: { kind: 'derived', alias: distinct, query: rows },
    };
    const each = apply('keys of rounds', int8, (a) => `arrayJoin(${a})`, place(keys, 0));
    const before: SelectIr = {
      ...plainSelect([each]),
      from: { kind: 'cte', alias: keys, cte: this.#name },
    };
    const [fresh, seen] = [this.#env.alias(), known];
    return {
      ...plainSelect([gather('groupArray', place(fresh, 1)), gather('groupArray', place(fresh, 0))]),
      from: {
        kind: 'join',
        type: 'LEFT',
        left: { kind: 'derived', alias: fresh, query: keyed },
        right: { kind: 'derived', alias: seen, query: before },
        on: apply('same key', bool, (a, b) => `(${a} = ${b})`, place(fresh, 1), place(seen, 0)),
      },
      where: apply('is new', bool, (a) => `isNull(${a})`, place(seen, 0)),
    };
  }
}

type Four = [string, string, string, string];

const place = (alias: string, index: number): Expr =>
  columnOf(alias, outputName(index), int8, outputName(index));

const rowOf = (alias: string, columns: readonly OutputColumn[]): Expr =>
  apply(
    'row',
    int8,
    (...values) => `tuple(${values.join(', ')})`,
    ...columns.map(({ type, name }, index) => columnOf(alias, outputName(index), type, name)),
  );

/** A text that no other row has: the store has no sets of tuples with NULLs. */
const keyOf = (row: Expr): Expr => apply('key of a row', int8, (a) => `toString(${a})`, row);

const gather = (name: 'groupArray' | 'groupUniqArray', value: Expr): Aggregate => ({
  kind: 'aggregate',
  type: int8,
  name,
  render: (a) => `${name}(${a})`,
  args: [value],
  distinct: false,
  filter: undefined,
  over: undefined,
  finish: undefined,
});
