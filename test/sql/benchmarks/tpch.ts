import type { FieldType } from '../../../src/model/column.ts';
import type { Fixture } from '../fixtures.ts';
import { Draws } from './draws.ts';
import {
  colors,
  containers,
  instructions,
  modes,
  nations,
  priorities,
  regions,
  segments,
  types,
  words,
} from './tpch-words.ts';

/** Rows of TPC-H's tables (section 1.4 of its specification) for a scale of 0.01. */
const counts = { supplier: 100, part: 2000, customer: 1500, orders: 15_000 } as const;
/** The time of every event; the queries do not look at it. */
const received = '2024-01-01 00:00:00';

type Cells = readonly (string | number)[];

/** A table; the names of its columns end in the type of their values. */
function table(name: string, columns: string, rows: readonly Cells[]): Fixture {
  const fields = columns.split(' ').map((column): [string, FieldType] => {
    const [field = '', type] = column.split(':');
    return [field, type === 'n' ? 'num' : 'str'];
  });
  return { name, fields: Object.fromEntries(fields), rows: rows.map((row) => [received, ...row]) };
}

const numbered = (count: number): readonly number[] => Array.from({ length: count }, (_, index) => index + 1);
const padded = (prefix: string, key: number): string => `${prefix}#${String(key).padStart(9, '0')}`;
const comment = (draws: Draws): string => Array.from({ length: 5 }, () => draws.pick(words)).join(' ');
const phone = (draws: Draws, nation: number): string =>
  `${nation + 10}-${draws.int(100, 999)}-${draws.int(100, 999)}-${draws.int(1000, 9999)}`;
const retailPrice = (part: number): number => (90_000 + ((part / 10) % 20_001) + 100 * (part % 1000)) / 100;
/** The supplier of a part, of which each has four (section 4.2.3). */
const supplierOf = (part: number, place: number): number =>
  ((part + place * (counts.supplier / 4 + Math.floor((part - 1) / counts.supplier))) % counts.supplier) + 1;
const dayText = (day: number): string => new Date(day * 86_400_000).toISOString().slice(0, 10);
const startDay = Date.parse('1992-01-01') / 86_400_000;
const currentDay = Date.parse('1995-06-17') / 86_400_000;

function ordersAndLines(draws: Draws): {
  readonly orders: readonly Cells[];
  readonly lines: readonly Cells[];
} {
  const lines: Cells[] = [];
  const orders = numbered(counts.orders).map((number): Cells => {
    // Only the first 8 of 32 keys are used, and a third of the customers never orders.
    const key = Math.floor((number - 1) / 8) * 32 + ((number - 1) % 8) + 1;
    const drawn = draws.int(1, counts.customer);
    const customer = drawn % 3 === 0 ? drawn - 1 : drawn;
    const day = startDay + draws.int(0, 2405);
    let total = 0;
    const statuses = new Set<string>();
    for (const line of numbered(draws.int(1, 7))) {
      const part = draws.int(1, counts.part);
      const quantity = draws.int(1, 50);
      const price = Math.round(quantity * retailPrice(part) * 100) / 100;
      const shipped = day + draws.int(1, 121);
      const receipt = shipped + draws.int(1, 30);
      const status = shipped > currentDay ? 'O' : 'F';
      const returned = receipt <= currentDay ? draws.pick(['R', 'A']) : 'N';
      const [discount, tax] = [draws.int(0, 10) / 100, draws.int(0, 8) / 100];
      statuses.add(status);
      total += price * (1 + tax) * (1 - discount);
      lines.push([
        key,
        part,
        supplierOf(part, draws.int(0, 3)),
        line,
        quantity,
        price,
        discount,
        tax,
        returned,
        status,
        dayText(shipped),
        dayText(day + draws.int(30, 90)),
        dayText(receipt),
        draws.pick(instructions),
        draws.pick(modes),
      ]);
    }
    const status = statuses.size > 1 ? 'P' : ([...statuses][0] ?? 'P');
    const totalCents = Math.round(total * 100) / 100;
    return [key, customer, status, totalCents, dayText(day), draws.pick(priorities), 0, comment(draws)];
  });
  return { orders, lines };
}

/** All tables of TPC-H at scale 0.01, the same each time. */
export function tpchTables(): readonly Fixture[] {
  const draws = new Draws(22);
  const { orders, lines } = ordersAndLines(draws);
  const suppliers = numbered(counts.supplier).map((key): Cells => {
    const nation = draws.int(0, 24);
    const note = key % 25 === 0 ? `${comment(draws)} Customer slow Complaints` : comment(draws);
    return [
      key,
      padded('Supplier', key),
      comment(draws),
      nation,
      phone(draws, nation),
      draws.cents(-999, 9999),
      note,
    ];
  });
  const parts = numbered(counts.part).map((key): Cells => {
    const maker = draws.int(1, 5);
    const name = Array.from({ length: 5 }, () => draws.pick(colors)).join(' ');
    const type = types.map((syllable) => draws.pick(syllable)).join(' ');
    const container = containers.map((syllable) => draws.pick(syllable)).join(' ');
    const brand = `Brand#${maker}${draws.int(1, 5)}`;
    return [key, name, `Manufacturer#${maker}`, brand, type, draws.int(1, 50), container, retailPrice(key)];
  });
  const partSuppliers = numbered(counts.part).flatMap((part) =>
    [0, 1, 2, 3].map(
      (place): Cells => [part, supplierOf(part, place), draws.int(1, 9999), draws.cents(1, 1000)],
    ),
  );
  const customers = numbered(counts.customer).map((key): Cells => {
    const nation = draws.int(0, 24);
    return [
      key,
      padded('Customer', key),
      comment(draws),
      nation,
      phone(draws, nation),
      draws.cents(-999, 9999),
      draws.pick(segments),
      comment(draws),
    ];
  });
  return [
    table(
      'region',
      'r_regionkey:n r_name',
      regions.map((name, key) => [key, name]),
    ),
    table(
      'nation',
      'n_nationkey:n n_name n_regionkey:n',
      nations.map(([name, region], key) => [key, name, region]),
    ),
    table('supplier', 's_suppkey:n s_name s_address s_nationkey:n s_phone s_acctbal:n s_comment', suppliers),
    table('part', 'p_partkey:n p_name p_mfgr p_brand p_type p_size:n p_container p_retailprice:n', parts),
    table('partsupp', 'ps_partkey:n ps_suppkey:n ps_availqty:n ps_supplycost:n', partSuppliers),
    table(
      'customer',
      'c_custkey:n c_name c_address c_nationkey:n c_phone c_acctbal:n c_mktsegment c_comment',
      customers,
    ),
    table(
      'orders',
      'o_orderkey:n o_custkey:n o_orderstatus o_totalprice:n o_orderdate o_orderpriority o_shippriority:n o_comment',
      orders,
    ),
    table(
      'lineitem',
      'l_orderkey:n l_partkey:n l_suppkey:n l_linenumber:n l_quantity:n l_extendedprice:n l_discount:n l_tax:n l_returnflag l_linestatus l_shipdate l_commitdate l_receiptdate l_shipinstruct l_shipmode',
      lines,
    ),
  ];
}

/** What keeps PostgreSQL from reading whole tables in correlated subqueries. */
export const tpchIndexes = `
  CREATE INDEX ON lineitem (l_partkey, l_suppkey); CREATE INDEX ON lineitem (l_orderkey);
  CREATE INDEX ON partsupp (ps_partkey); CREATE INDEX ON orders (o_orderkey); CREATE INDEX ON orders (o_custkey);
  CREATE INDEX ON customer (c_custkey); CREATE INDEX ON part (p_partkey); CREATE INDEX ON supplier (s_suppkey); ANALYZE;`;
