import type { ColumnSpec } from '../model/column.ts';
import {
  type DatasetKind,
  databaseOf,
  physicalTable,
  type TableName,
  tablesOfKind,
} from '../model/dataset.ts';
import type { SealedSegment, SegmentRecord } from '../wal/segment.ts';
import type { Rows } from './row-ranges.ts';

/** The rows that one segment, or several, hold for one table. They become one insert. */
export interface TableBatch {
  readonly tenant: string;
  /** Its id. */
  readonly dataset: string;
  readonly kind: DatasetKind;
  /** Whether the id was presumed, of some of the records. */
  readonly presumed: boolean;
  readonly database: string;
  readonly table: string;
  /** The union of the blocks' columns, in order of first appearance. */
  readonly columns: readonly ColumnSpec[];
  readonly rows: number;
  /** Of its blocks. */
  readonly byteLength: number;
  /** The dataset's table that is inserted first, `<database>.<table>`: this one follows it. */
  readonly firstTable: string;
  /** Where the blocks are, in log order. At least one. */
  readonly parts: readonly BlockPlace[];
}

/** A record of a segment, and the index of the block in it. */
export interface BlockPlace {
  readonly segment: SealedSegment;
  readonly record: SegmentRecord;
  readonly index: number;
}

interface Growing extends TableBatch {
  readonly byName: Map<string, ColumnSpec>;
  /** Place among the tables of its dataset. */
  readonly order: number;
  readonly parts: BlockPlace[];
  rows: number;
  byteLength: number;
  presumed: boolean;
}

/**
 * Sorts a segment's blocks by table. A pure function of the segment, so that a repeat after a crash makes the
 * same batches.
 * @returns for each dataset, its tables in the order in which they are to be inserted
 */
export function batchesOf(segment: SealedSegment): TableBatch[] {
  const batches = new Map<string, Growing>();
  for (const record of segment.records) {
    const { tenant, dataset, kind, presumed = false, blocks } = record.header;
    for (const [index, block] of blocks.entries()) {
      const key = `${tenant}/${dataset}/${block.table}`;
      let batch = batches.get(key);
      if (batch === undefined) {
        batch = start(tenant, dataset, kind, block.table);
        batches.set(key, batch);
      }
      batch.presumed ||= presumed;
      batch.rows += block.rows;
      batch.byteLength += block.byteLength;
      batch.parts.push({ segment, record, index });
      for (const column of block.columns) {
        if (!batch.byName.has(column.name)) batch.byName.set(column.name, column);
      }
    }
  }
  const datasets = new Map<string, Growing[]>();
  for (const batch of batches.values()) {
    const key = `${batch.tenant}/${batch.dataset}`;
    datasets.set(key, [...(datasets.get(key) ?? []), batch]);
  }
  return [...datasets.values()].flatMap((tables) => tables.toSorted((a, b) => a.order - b.order).map(finish));
}

/** What a table is known by, unquoted. */
export const nameOf = ({ database, table }: Pick<TableBatch, 'database' | 'table'>): string =>
  `${database}.${table}`;

/**
 * One batch of each table of a dataset, from batches of several segments in their order. Its first table
 * comes first.
 */
export function mergeBatches(batches: readonly TableBatch[]): TableBatch[] {
  const byTable = new Map<string, TableBatch[]>();
  for (const batch of batches) {
    const name = nameOf(batch);
    byTable.set(name, [...(byTable.get(name) ?? []), batch]);
  }
  const isFirst = (batch: TableBatch) => Number(nameOf(batch) === batch.firstTable);
  return [...byTable.values()].flatMap(mergeTable).sort((a, b) => isFirst(b) - isFirst(a));
}

function mergeTable(batches: readonly TableBatch[]): TableBatch[] {
  const [first] = batches;
  if (first === undefined || batches.length === 1) return [...batches];
  const merged = {
    ...first,
    presumed: batches.some(({ presumed }) => presumed),
    columns: unionOf(batches),
    rows: batches.reduce((sum, { rows }) => sum + rows, 0),
    byteLength: batches.reduce((sum, { byteLength }) => sum + byteLength, 0),
    parts: batches.flatMap(({ parts }) => parts),
  };
  return [merged];
}

/** The columns of all, in order of first appearance. */
const unionOf = (all: readonly { readonly columns: readonly ColumnSpec[] }[]): readonly ColumnSpec[] => [
  ...new Map(all.flatMap(({ columns }) => columns.map((column) => [column.name, column]))).values(),
];

/** The first and the last segment of a batch. */
export function segmentsOf({ parts }: TableBatch): readonly [first: number, last: number] {
  const [first, last] = [parts[0]?.segment.number, parts.at(-1)?.segment.number];
  if (first === undefined || last === undefined) throw new Error('BUG: a batch without blocks');
  return [first, last];
}

/**
 * The deduplication token of a batch: `<node>-<segment>-<table>`, with the first and the last of several
 * segments.
 */
export function tokenOf(node: string, batch: TableBatch): string {
  const [first, last] = segmentsOf(batch);
  return `${node}-${first === last ? last : `${first}..${last}`}-${nameOf(batch)}`;
}

/** The records that a batch is made of. */
export function recordsBySegment({
  parts,
}: TableBatch): ReadonlyMap<SealedSegment, ReadonlySet<SegmentRecord>> {
  const found = new Map<SealedSegment, Set<SegmentRecord>>();
  for (const { segment, record } of parts) {
    const records = found.get(segment) ?? new Set();
    found.set(segment, records.add(record));
  }
  return found;
}

/** The tables that may be the first one of a dataset, by name, whatever its kind. */
export const firstTablesOf = (tenant: string, id: string): readonly string[] =>
  Object.values(tablesOfKind).map(([table]) =>
    nameOf({ database: databaseOf(tenant), table: physicalTable(id, table) }),
  );

/**
 * What of the batch of a deleted dataset goes to its successor, the dataset that has its name now: the
 * records that were written before this process could know of the deletion. They make a batch of their own.
 */
export function successorBatch(batch: TableBatch, successor: string): TableBatch {
  const parts = batch.parts.filter(({ record }) => record.header.presumed === true);
  const blocks = parts.flatMap(({ record, index }) => record.header.blocks[index] ?? []);
  return {
    ...batch,
    dataset: successor,
    table: `${successor}${batch.table.slice(batch.dataset.length)}`,
    columns: unionOf(blocks),
    rows: blocks.reduce((sum, { rows }) => sum + rows, 0),
    byteLength: blocks.reduce((sum, { byteLength }) => sum + byteLength, 0),
    parts,
  };
}

/** The deduplication token of what goes to a successor. No table has such a name. */
export const successorTokenOf = (node: string, batch: TableBatch): string =>
  `${tokenOf(node, batch)}-inherited`;

/** The rows of a batch whose records are in memory. */
export function batchRows(batch: TableBatch): Rows {
  const blocks = batch.parts.map(({ record, index }) => {
    const bytes = record.blocks?.[index];
    const header = record.header.blocks[index];
    if (bytes === undefined || header === undefined) {
      throw new Error('BUG: a record was not in memory at its insert');
    }
    return { rows: header.rows, columns: header.columns, bytes };
  });
  return { from: 0, to: batch.rows, blocks };
}

function start(tenant: string, dataset: string, kind: DatasetKind, table: TableName): Growing {
  const database = databaseOf(tenant);
  return {
    tenant,
    dataset,
    kind,
    presumed: false,
    database,
    table: physicalTable(dataset, table),
    firstTable: nameOf({ database, table: physicalTable(dataset, tablesOfKind[kind][0]) }),
    columns: [],
    byName: new Map(),
    order: (tablesOfKind[kind] as readonly TableName[]).indexOf(table),
    rows: 0,
    byteLength: 0,
    parts: [],
  };
}

const finish = ({ byName, order: _, ...batch }: Growing): TableBatch => ({
  ...batch,
  columns: [...byName.values()],
});
