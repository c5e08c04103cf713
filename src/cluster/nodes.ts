import { selectRow, selectRows } from '../clickhouse/select-rows.ts';
import type { Store } from '../clickhouse/store.ts';
import { quoteString } from '../lib/quote.ts';

/** How far a node has read each part of the metadata log: all entries before these positions. */
export interface ReadPosition {
  readonly identities: number;
  readonly tenants: number;
  readonly datasets: number;
}

/** What a node says of itself. */
export interface OwnReport extends ReadPosition {
  /** The newest segment of its log that may have been inserted; 0 for none. */
  readonly segment?: number;
}

/** The last report of another node. */
export interface NodeReport extends ReadPosition {
  readonly node: string;
}

/**
 * The processes that share a store, in a table of the store. Each node reports periodically that it runs, and
 * how far it has read the metadata log. The newest report of a node is the one that became visible last, as
 * in that log: clocks may jump.
 */
export class NodeRegistry {
  readonly #store: Store;
  readonly #node: string;

  /** @param node the name of this node */
  constructor(store: Store, node: string) {
    this.#store = store;
    this.#node = node;
  }

  /**
   * Reports that this node runs and has read this far, or that it is about to stop.
   * @throws StoreError
   */
  async report({ identities, tenants, datasets, segment = 0 }: OwnReport, leaves: boolean): Promise<void> {
    await this.#store.command(
      `INSERT INTO \`millrace\`.\`nodes\` (node, identities, tenants, datasets, segment, leaves)
       SELECT ${quoteString(this.#node)}, ${identities}, ${tenants}, ${datasets}, ${segment}, ${leaves}`,
    );
  }

  /**
   * The newest segment of this node's log that it has ever reported; 0 if there is none. Reports are kept for
   * some days.
   * @throws StoreError
   */
  async reportedSegment(): Promise<number> {
    const [segment] = await selectRow<[number]>(
      this.#store,
      `SELECT toFloat64(max(segment)) FROM \`millrace\`.\`nodes\` WHERE node = ${quoteString(this.#node)}`,
    );
    return segment;
  }

  /**
   * The other nodes that reported within this time and are not stopping.
   * @throws StoreError
   */
  async others(withinMs: number): Promise<readonly NodeReport[]> {
    const rows = await selectRows<[string, number, number, number]>(
      this.#store,
      `SELECT node, toUInt32(argMax(identities, _block_number)), toUInt32(argMax(tenants, _block_number)),
         toUInt32(argMax(datasets, _block_number))
       FROM \`millrace\`.\`nodes\` WHERE node != ${quoteString(this.#node)}
       GROUP BY node
       HAVING NOT argMax(leaves, _block_number) AND dateDiff('millisecond', max(at), now64(3, 'UTC')) < ${withinMs}`,
    );
    return rows.map(([node, identities, tenants, datasets]) => ({ node, identities, tenants, datasets }));
  }
}
