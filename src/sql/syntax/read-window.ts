import type { Frame, FrameBound, SortKey, Window } from '../ast.ts';
import { spend } from '../budget.ts';
import { sqlError } from '../sql-error.ts';
import type { SyntaxNode } from './node.ts';
import type { ReadContext } from './read-context.ts';

export function readSortKey(node: SyntaxNode, context: ReadContext): SortKey {
  node.allow(['node', 'sortby_dir', 'sortby_nulls'], { useOp: 'ORDER BY … USING' });
  const descending = node.text('sortby_dir') === 'SORTBY_DESC';
  const nulls = node.text('sortby_nulls');
  return {
    expression: context.expression(node.required('node')),
    descending,
    nullsFirst: nulls === 'SORTBY_NULLS_DEFAULT' ? descending : nulls === 'SORTBY_NULLS_FIRST',
  };
}

export function readWindow(node: SyntaxNode, context: ReadContext): Window {
  spend('windows', 1, node.at);
  const { at } = node;
  node.allow([
    'name',
    'refname',
    'partitionClause',
    'orderClause',
    'frameOptions',
    'startOffset',
    'endOffset',
  ]);
  return {
    reference: node.has('name') ? node.text('name') : undefined,
    base: node.has('refname') ? node.text('refname') : undefined,
    partitionBy: node.list('partitionClause').map((key) => context.expression(key)),
    orderBy: node.list('orderClause').map((key) => readSortKey(key, context)),
    frame: readFrame(node, context),
    at,
  };
}

/** Bits of `frameOptions`, PostgreSQL's src/include/nodes/parsenodes.h, FRAMEOPTION_*. */
const frameBits = {
  nonDefault: 0x1,
  rows: 0x4,
  groups: 0x8,
  startUnboundedPreceding: 0x20,
  endUnboundedFollowing: 0x100,
  startCurrentRow: 0x200,
  endCurrentRow: 0x400,
  startOffsetPreceding: 0x800,
  endOffsetPreceding: 0x1000,
  startOffsetFollowing: 0x2000,
  endOffsetFollowing: 0x4000,
  excludeCurrentRow: 0x8000,
  excludeGroup: 0x10000,
  excludeTies: 0x20000,
} as const;

function readFrame(node: SyntaxNode, context: ReadContext): Frame | undefined {
  const options = node.number('frameOptions');
  if ((options & frameBits.nonDefault) === 0) return undefined;
  const set = (bit: number): boolean => (options & bit) !== 0;
  return {
    mode: set(frameBits.rows) ? 'ROWS' : set(frameBits.groups) ? 'GROUPS' : 'RANGE',
    start: readBound(node, context, options, 'start'),
    end: readBound(node, context, options, 'end'),
    exclude: set(frameBits.excludeCurrentRow)
      ? 'current row'
      : set(frameBits.excludeGroup)
        ? 'group'
        : set(frameBits.excludeTies)
          ? 'ties'
          : undefined,
    at: node.at,
  };
}

function readBound(
  node: SyntaxNode,
  context: ReadContext,
  options: number,
  side: 'start' | 'end',
): FrameBound {
  const set = (bit: number): boolean => (options & bit) !== 0;
  const start = side === 'start';
  if (set(start ? frameBits.startCurrentRow : frameBits.endCurrentRow)) return { kind: 'current row' };
  if (start && set(frameBits.startUnboundedPreceding)) return { kind: 'unbounded preceding' };
  if (!start && set(frameBits.endUnboundedFollowing)) return { kind: 'unbounded following' };
  const offset = () => context.expression(node.required(`${side}Offset`));
  if (set(start ? frameBits.startOffsetPreceding : frameBits.endOffsetPreceding)) {
    return { kind: 'preceding', offset: offset() };
  }
  if (set(start ? frameBits.startOffsetFollowing : frameBits.endOffsetFollowing)) {
    return { kind: 'following', offset: offset() };
  }
  throw sqlError('sql_syntax', 'The window frame is not understood', node.at);
}
