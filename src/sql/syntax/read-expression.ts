import { limits } from '../../limits/limits.ts';
import type { Constant, Expression, ParameterReference } from '../ast.ts';
import { checkTextLength } from '../budget.ts';
import { sqlError, unsupported } from '../sql-error.ts';
import type { SyntaxNode } from './node.ts';
import { isNumberText } from './number-text.ts';
import { readCall } from './read-call.ts';
import type { ReadContext } from './read-context.ts';
import { callOf, readOperator } from './read-operator.ts';
import { readRow } from './read-rows.ts';
import { readSubquery } from './read-subquery.ts';
import { readCast } from './read-type.ts';

type Reader = (node: SyntaxNode, context: ReadContext) => Expression;

/** The node types that an expression may consist of. Everything else is refused by its name. */
const readers: ReadonlyMap<string, Reader> = new Map<string, Reader>([
  ['A_Const', readConstant],
  ['ParamRef', readParameter],
  ['ColumnRef', readColumn],
  ['A_Expr', readOperator],
  ['BoolExpr', readBoolean],
  ['NullTest', readNullTest],
  ['BooleanTest', readBooleanTest],
  ['FuncCall', readCall],
  ['CoalesceExpr', readCoalesce],
  ['MinMaxExpr', readMinMax],
  ['CaseExpr', readCase],
  ['TypeCast', readCast],
  ['SQLValueFunction', readValueFunction],
  ['SubLink', readSubquery],
  ['A_Indirection', readSubscript],
  ['A_ArrayExpr', readArray],
  ['GroupingFunc', readGrouping],
  ['CollateClause', readCollate],
  ['RowExpr', readRow],
]);

export function readExpression(node: SyntaxNode, context: ReadContext): Expression {
  const reader = readers.get(node.type);
  if (reader === undefined) throw unsupported(constructNames.get(node.type) ?? node.type, node.at);
  return reader(node, context);
}

const constructNames: ReadonlyMap<string, string> = new Map([['NamedArgExpr', 'A named argument']]);

function readConstant(node: SyntaxNode): Constant {
  node.allow(['ival', 'fval', 'sval', 'boolval', 'isnull'], { bsval: 'A bit string' });
  const constant = (type: Constant['type'], text: string): Constant => {
    checkTextLength(text, limits.maxSqlLiteralLength, 'A literal', node.at);
    return { kind: 'constant', at: node.at, type, text };
  };
  if (node.flag('isnull')) return constant('null', '');
  const integer = node.part('ival', 'Integer');
  if (integer !== undefined) return constant('integer', String(integer.number('ival')));
  const boolean = node.part('boolval', 'Boolean');
  if (boolean !== undefined) return constant('boolean', String(boolean.flag('boolval')));
  const float = node.part('fval', 'Float');
  // Integers of more than 32 bits arrive as "floats" too; their text tells them apart.
  if (float !== undefined) return numberConstant(float.text('fval'), constant, node.at);
  return constant('string', node.part('sval', 'String')?.text('sval') ?? '');
}

function numberConstant(
  written: string,
  constant: (type: Constant['type'], text: string) => Constant,
  at: number | undefined,
): Constant {
  const text = written.replaceAll('_', '');
  if (/^-?\d+$/.test(text)) return constant('integer', text);
  if (isNumberText(text)) return constant('decimal', text);
  throw unsupported(`The number ${written}`, at);
}

function readParameter(node: SyntaxNode): ParameterReference {
  node.allow(['number']);
  const number = node.number('number');
  if (number < 1) throw sqlError('sql_syntax', `there is no parameter $${number}; the first is $1`, node.at);
  if (number <= limits.maxQueryParameters) return { kind: 'parameter', at: node.at, number };
  const reason = `parameter $${number} is beyond $${limits.maxQueryParameters}, which is the last that is allowed`;
  throw sqlError('sql_too_large', reason, node.at);
}

function readColumn(node: SyntaxNode): Expression {
  node.allow(['fields']);
  const fields = node.list('fields');
  const path = fields.filter((field) => field.type === 'String').map((field) => field.text('sval'));
  // `public.app.level`: the schema adds nothing to the name of the relation.
  if (fields.at(-1)?.type !== 'A_Star')
    return {
      kind: 'column',
      at: node.at,
      path: path[0] === 'public' && path.length > 2 ? path.slice(1) : path,
    };
  return { kind: 'star', at: node.at, relation: path.at(-1) };
}

function readBoolean(node: SyntaxNode, context: ReadContext): Expression {
  node.allow(['boolop', 'args']);
  const args = node.list('args').map((arg) => context.expression(arg));
  const [first] = args;
  if (node.text('boolop') !== 'NOT_EXPR') {
    return { kind: node.text('boolop') === 'AND_EXPR' ? 'and' : 'or', at: node.at, args };
  }
  if (first === undefined) throw sqlError('sql_syntax', 'NOT needs an operand', node.at);
  return { kind: 'not', at: node.at, arg: first };
}

function readNullTest(node: SyntaxNode, context: ReadContext): Expression {
  node.allow(['arg', 'nulltesttype']);
  const { at } = node;
  const arg = context.expression(node.required('arg'));
  const negated = node.text('nulltesttype') === 'IS_NOT_NULL';
  if (arg.kind !== 'row' || arg.items.length === 0) return { kind: 'is null', at, arg, negated };
  // Of a row, all values are, or none is.
  const args = arg.items.map((item): Expression => ({ kind: 'is null', at, arg: item, negated }));
  return { kind: 'and', at, args };
}

function readBooleanTest(node: SyntaxNode, context: ReadContext): Expression {
  node.allow(['arg', 'booltesttype']);
  const test = node.text('booltesttype');
  const value = test.endsWith('TRUE') ? 'true' : test.endsWith('FALSE') ? 'false' : 'unknown';
  const arg = context.expression(node.required('arg'));
  return { kind: 'is truth', at: node.at, arg, value, negated: test.startsWith('IS_NOT') };
}

function readCoalesce(node: SyntaxNode, context: ReadContext): Expression {
  node.allow(['args']);
  return callOf(
    'coalesce',
    node.list('args').map((arg) => context.expression(arg)),
    node.at,
  );
}

function readMinMax(node: SyntaxNode, context: ReadContext): Expression {
  node.allow(['op', 'args']);
  const name = node.text('op') === 'IS_LEAST' ? 'least' : 'greatest';
  return callOf(
    name,
    node.list('args').map((arg) => context.expression(arg)),
    node.at,
  );
}

function readCase(node: SyntaxNode, context: ReadContext): Expression {
  node.allow(['arg', 'args', 'defresult']);
  const operand = node.child('arg');
  const otherwise = node.child('defresult');
  return {
    kind: 'case',
    at: node.at,
    operand: operand && context.expression(operand),
    branches: node.list('args').map((branch) => ({
      when: context.expression(branch.required('expr')),
      result: context.expression(branch.required('result')),
    })),
    otherwise: otherwise && context.expression(otherwise),
  };
}

const valueFunctions: ReadonlyMap<string, string> = new Map([
  ['SVFOP_CURRENT_TIMESTAMP', 'current_timestamp'],
  ['SVFOP_LOCALTIMESTAMP', 'localtimestamp'],
  ['SVFOP_LOCALTIME', 'localtime'],
  ['SVFOP_CURRENT_DATE', 'current_date'],
  ['SVFOP_CURRENT_SCHEMA', 'current_schema'],
  ['SVFOP_CURRENT_CATALOG', 'current_catalog'],
  ['SVFOP_CURRENT_USER', 'current_user'],
  ['SVFOP_CURRENT_ROLE', 'current_role'],
  ['SVFOP_SESSION_USER', 'session_user'],
  ['SVFOP_USER', 'user'],
]);

function readValueFunction(node: SyntaxNode): Expression {
  node.allow(['op', 'typmod']);
  const name = valueFunctions.get(node.text('op'));
  if (name === undefined) {
    throw unsupported(node.text('op').replace('SVFOP_', '').replace(/_N$/, '(n)'), node.at);
  }
  return callOf(name, [], node.at);
}

function readSubscript(node: SyntaxNode, context: ReadContext): Expression {
  node.allow(['arg', 'indirection']);
  let arg = context.expression(node.required('arg'));
  const subscripts = node.list('indirection');
  if (subscripts.length > limits.maxSqlSubscripts) {
    throw sqlError('sql_too_large', `A value has more than ${limits.maxSqlSubscripts} subscripts`, node.at);
  }
  for (const index of subscripts) {
    if (index.type === 'String') {
      arg = { kind: 'field', at: node.at, arg, name: index.text('sval') };
      continue;
    }
    if (index.type === 'A_Star' && arg.kind === 'column' && arg.path.length === 1) {
      return { kind: 'star', at: node.at, relation: arg.path[0] };
    }
    if (index.type !== 'A_Indices') throw unsupported('A selection of all fields', node.at);
    index.allow(['is_slice', 'lidx', 'uidx']);
    const { at } = arg;
    if (!index.flag('is_slice')) {
      arg = { kind: 'subscript', at, arg, index: context.expression(index.required('uidx')) };
      continue;
    }
    // Beside a slice, PostgreSQL takes every subscript for one of another dimension.
    if (subscripts.length > 1) throw unsupported('A slice of several dimensions', node.at);
    const [from, to] = [index.child('lidx'), index.child('uidx')];
    arg = {
      kind: 'slice',
      at,
      arg,
      from: from && context.expression(from),
      to: to && context.expression(to),
    };
  }
  return arg;
}

/** Texts are sorted and compared by their bytes, which these collations say or leave open. */
const collations: ReadonlySet<string> = new Set(['default', 'C', 'POSIX', 'ucs_basic', 'C.UTF-8', 'C.utf8']);

function readCollate(node: SyntaxNode, context: ReadContext): Expression {
  node.allow(['arg', 'collname']);
  const names = node.strings('collname');
  if (!collations.has(names.at(-1) ?? '')) throw unsupported(`COLLATE ${names.join('.')}`, node.at);
  return context.expression(node.required('arg'));
}

/** `ARRAY[…]`; the location of its end says nothing. */
function readArray(node: SyntaxNode, context: ReadContext): Expression {
  node.allow(['elements', 'list_start', 'list_end']);
  return { kind: 'array', at: node.at, items: node.list('elements').map((item) => context.expression(item)) };
}

function readGrouping(node: SyntaxNode, context: ReadContext): Expression {
  node.allow(['args']);
  return { kind: 'grouping', at: node.at, args: node.list('args').map((arg) => context.expression(arg)) };
}
