import * as v from 'valibot';
import type { DocumentBody, StoredDocument } from '../documents/document.ts';
import { AppError } from '../errors.ts';
import { isUlid } from '../lib/ulid.ts';
import { type Expectation, listOf, oneOf, openMembers, text, validate } from '../lib/validation.ts';
import { limits } from '../limits/limits.ts';
import { type Visibility, visibilities } from './visibility.ts';

export const title = v.pipe(
  text(limits.maxDocumentTitleLength),
  v.check((value) => value.trim() !== '', 'must not be empty'),
);

export const tags = listOf(
  v.pipe(text(limits.maxDocumentTagLength), v.minLength(1)),
  limits.maxDocumentTags,
  'must be an array of texts',
);

const tile = v.pipe(
  openMembers({ tile_id: v.pipe(v.string(), v.check(isUlid, 'must be a ULID'), v.description('A ULID.')) }),
  v.title('Tile'),
);

/** What a client sends of a dashboard. Members that nobody here knows are kept, of tiles too. */
export const dashboardExpectation: Expectation<DashboardContent> = {
  schema: v.pipe(
    openMembers({
      title,
      dashboardType: v.nullish(oneOf(['Dashboard', 'Report'])),
      description: v.nullish(v.string()),
      tags: v.nullish(tags),
      tiles: v.nullish(listOf(tile, limits.maxTilesPerDashboard)),
      visibility: v.nullish(oneOf(visibilities)),
      timeRange: v.nullish(openMembers({ from: v.string(), to: v.string() })),
      refreshSeconds: v.nullish(v.pipe(v.number(), v.minValue(1, 'must be at least 1'))),
      isFavorite: v.nullish(v.boolean()),
    }),
    v.title('NewDashboard'),
  ),
  name: '',
  whole: 'a dashboard must be an object: {"title": "name", "tiles": [{"tile_id": "ULID", …}]}',
  code: 'bad_request',
};

export const tileExpectation: Expectation<Tile> = {
  schema: tile,
  name: 'tile',
  whole: 'a tile must be an object: {"tile_id": "ULID", …}',
  code: 'bad_request',
};

export interface Tile {
  readonly tile_id: string;
  readonly [member: string]: unknown;
}

export interface DashboardContent {
  readonly title: string;
  readonly dashboardType?: 'Dashboard' | 'Report' | null | undefined;
  readonly tags?: readonly string[] | null | undefined;
  readonly tiles?: readonly Tile[] | null | undefined;
  readonly visibility?: Visibility | null | undefined;
  readonly isFavorite?: boolean | null | undefined;
  readonly [member: string]: unknown;
}

/** A dashboard as it is kept. */
export interface DashboardBody extends DocumentBody {
  readonly title: string;
  readonly dashboardType: 'Dashboard' | 'Report';
  readonly tags: readonly string[] | null;
  readonly tiles: readonly Tile[];
  readonly visibility: Visibility;
}

export type Dashboard = StoredDocument<DashboardBody>;

/**
 * What is kept of what a client sent: all but what the service itself says of a dashboard.
 * @param before the dashboard that is replaced: its visibility stays unless another one is given, so that a
 *   client that does not know of it makes nothing public
 * @throws AppError `bad_request`
 */
export function dashboardBody(content: DashboardContent, before?: DashboardBody): DashboardBody {
  const { version, author, dashboardId, created, modified, revision, isFavorite, tenantId, ...kept } =
    content;
  const tiles = content.tiles ?? [];
  requireTiles(tiles);
  return {
    ...kept,
    dashboardType: content.dashboardType ?? 'Dashboard',
    tags: content.tags == null ? null : [...new Set(content.tags)],
    tiles,
    visibility: content.visibility ?? before?.visibility ?? 'tenant',
  };
}

/** @throws AppError `bad_request` */
export function withTile(body: DashboardBody, added: Tile): DashboardBody {
  const tiles = [...body.tiles, added];
  if (tiles.length > limits.maxTilesPerDashboard) {
    const reason = `the dashboard has ${body.tiles.length} tiles; no more are allowed`;
    throw new AppError('bad_request', reason);
  }
  requireTiles(tiles);
  return { ...body, tiles };
}

const nil = '0'.repeat(26);

/** @throws AppError `bad_request` */
function requireTiles(tiles: readonly Tile[]): void {
  const indexOf = new Map<string, number>();
  for (const [index, each] of tiles.entries()) {
    const id = each.tile_id.toUpperCase();
    if (id === nil) throw badTile(index, 'must not be all zeros');
    const other = indexOf.get(id);
    if (other !== undefined) throw badTile(index, `is that of tiles[${other}], too`);
    indexOf.set(id, index);
    for (const [member, mark, schema] of ownParts) {
      const value = each[member];
      if (typeof value !== 'object' || value === null || !(mark in value)) continue;
      const name = `tiles[${index}].${member}`;
      validate({ schema, name, whole: `${name} must be an object`, code: 'bad_request' }, value);
    }
  }
}

const badTile = (index: number, problem: string): AppError =>
  new AppError('bad_request', `tiles[${index}].tile_id ${problem}`, {
    details: { pointer: `/tiles/${index}/tile_id` },
  });

const cell = v.pipe(
  v.number(),
  v.check(
    (value) => Number.isInteger(value) && value >= 0 && value <= 10_000,
    'must be a whole number, 0 to 10000',
  ),
);
const columns = v.array(v.string());

/**
 * Parts of tiles in the form of Millrace, with the member that shows that a part has this form. Other
 * consoles have forms of their own, which are kept as they are.
 */
const ownParts: ReadonlyArray<readonly [member: string, mark: string, schema: v.GenericSchema]> = [
  [
    'query',
    'language',
    openMembers({ language: oneOf(['sql', 'promql']), text: v.pipe(v.string(), v.minLength(1)) }),
  ],
  [
    'chart',
    'kind',
    openMembers({
      kind: oneOf(['line', 'area', 'bar', 'pie', 'stat', 'table', 'heatmap', 'logs']),
      x: v.optional(v.string()),
      y: v.optional(columns),
      series: v.optional(v.string()),
      unit: v.optional(v.string()),
      stacked: v.optional(v.boolean()),
      thresholds: v.optional(v.array(v.unknown())),
    }),
  ],
  ['layout', 'w', openMembers({ x: cell, y: cell, w: cell, h: cell })],
];
