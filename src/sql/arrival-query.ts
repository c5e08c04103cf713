/**
 * Questions about the rows of one dataset in the order of their arrival: which inserts of a range have rows
 * that meet a condition, and what these rows are.
 *
 * The condition is the client's. The query around it is made here, of the tree and not of text, so that a
 * condition stays a condition; it is resolved as any other query, so that guards and the rows that privileges
 * leave hold. The store's numbers of inserts (`_block_number`) and of rows within a part (`_part_offset`) are
 * put in afterwards, where no name of a client can reach them.
 */
import type { Expression, Query } from './ast.ts';
import { columnOf } from './build.ts';
import type { Aggregate, Column, FromIr, QueryIr, SelectIr, Sort } from './ir.ts';
import { relationPaths } from './relation-names.ts';
import { sqlError, unsupported } from './sql-error.ts';
import { parseCondition } from './syntax/parse.ts';
import { int8 } from './types.ts';

export interface ArrivalQuestion {
  /** A dataset of events, logs or traces. */
  readonly dataset: string;
  /**
   * `inserts`: the inserts that have such rows, and how many each has. `rows`: the rows, with all columns of
   * the dataset and the number of the insert as the last one.
   */
  readonly form: 'inserts' | 'rows';
  /** Of the result, which is in the order of arrival. */
  readonly maxRows: number;
}

/**
 * The tree of such a question, to be resolved before `arrivalQuery` completes it.
 * @param condition empty if all rows are asked for
 * @throws AppError `sql_syntax`, `sql_unsupported`, `sql_too_large`
 */
export async function parseArrivalQuery(
  { dataset, form }: ArrivalQuestion,
  condition: string,
): Promise<Query> {
  const where = condition === '' ? undefined : await parseCondition(condition);
  const one: Expression = { kind: 'constant', type: 'integer', text: '1', at: undefined };
  const all: Expression = { kind: 'star', relation: undefined, at: undefined };
  const tree: Query = {
    ctes: [],
    body: {
      kind: 'select',
      distinct: false,
      distinctOn: [],
      items: [{ expression: form === 'rows' ? all : one, alias: undefined }],
      from: [{ kind: 'table', path: [dataset], alias: undefined, at: undefined }],
      where,
      groupingSets: [],
      having: undefined,
      windows: new Map(),
    },
    orderBy: [],
    limit: undefined,
    offset: undefined,
    withTies: false,
  };
  if (relationPaths(tree).length > 1)
    throw unsupported('A subquery with relations in the condition of a live tail');
  return tree;
}

/** The resolved query, in the order of arrival and with the number of the insert. */
export function arrivalQuery(query: QueryIr, { form, maxRows }: ArrivalQuestion): SelectIr {
  if (query.kind !== 'select' || query.from?.kind !== 'dataset')
    throw unsupported('This condition in a live tail');
  const { from } = query;
  const insert = numberOf(from, 'insert');
  const shown = { name: insert.label, type: int8 };
  const limited = { ...query, limit: maxRows };
  if (form === 'inserts') {
    return {
      ...limited,
      columns: [shown, { name: 'rows', type: int8 }],
      items: [insert, rowCount],
      from: withNumbers(from, ['insert']),
      groupingSets: [[insert]],
      orderBy: [ascending(insert)],
    };
  }
  return {
    ...limited,
    columns: [...query.columns, shown],
    items: [...query.items, insert],
    from: withNumbers(from, ['insert', 'place']),
    orderBy: [ascending(insert), ascending(numberOf(from, 'place'))],
  };
}

type DatasetFrom = Extract<FromIr, { kind: 'dataset' }>;

/** Columns of the store that every table has. Reads name theirs `c1`, `c2`, …. */
const storeNumbers = { insert: 'toInt64(_block_number)', place: 'toInt64(_part_offset)' } as const;
type StoreNumber = keyof typeof storeNumbers;

const numberOf = ({ alias }: DatasetFrom, name: StoreNumber): Column =>
  columnOf(alias, name, int8, `p_${name}`);

function withNumbers(from: DatasetFrom, names: readonly StoreNumber[]): DatasetFrom {
  const { read } = from;
  if (read.kind !== 'events' && read.kind !== 'records')
    throw sqlError('sql_unsupported', 'A live tail reads events, logs and traces');
  const columns = new Map(read.columns);
  for (const name of names) columns.set(name, storeNumbers[name]);
  return { ...from, read: { ...read, columns } };
}

const ascending = (expr: Column): Sort => ({ expr, descending: false, nullsFirst: false });

const rowCount: Aggregate = {
  kind: 'aggregate',
  type: int8,
  name: 'count',
  render: () => 'toInt64(count())',
  args: [],
  distinct: false,
  filter: undefined,
  over: undefined,
  finish: undefined,
};
