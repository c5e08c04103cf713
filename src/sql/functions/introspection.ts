import { quoteString } from '../../lib/quote.ts';
import { apply, isConstant, literal } from '../build.ts';
import { convert, settle } from '../coerce.ts';
import { unsupported } from '../sql-error.ts';
import { text, typeLabel } from '../types.ts';
import { argument, checkCount, type FunctionTable, type SpecialForm } from './definition.ts';
import { quotedIdentifier, quotedLiteral } from './text/format.ts';

/** The type of an expression, which is known before the query runs. An aggregate in it counts as one. */
const typeOf: SpecialForm = (args, site) => {
  checkCount(args, 1, 1, site);
  const value = argument(args, 0);
  const { type } = value;
  if (type.name === 'mixed' || type.name === 'map') {
    throw unsupported(`pg_typeof of ${typeLabel(type)}`, site.at);
  }
  const label = typeLabel(type);
  if (isConstant(value)) return literal(text, label);
  return apply('pg_typeof', text, (a) => `if(ignore(${a}) = 0, ${quoteString(label)}, '')`, value);
};

/** A value as a literal of SQL. */
const quoted =
  (ofNull: string): SpecialForm =>
  (args, site) => {
    checkCount(args, 1, 1, site);
    const value = convert(settle(argument(args, 0), site.at), text, site.at);
    return apply(site.name, text, (a) => quotedLiteral(a, ofNull), value);
  };

const quotedName: SpecialForm = (args, site) => {
  checkCount(args, 1, 1, site);
  const name = convert(settle(argument(args, 0), site.at), text, site.at);
  return apply(site.name, text, quotedIdentifier, name);
};

/** Functions about values and types, of columns; of constants, the catalog answers them. */
export const introspectionFunctions: FunctionTable = {
  pg_typeof: typeOf,
  quote_ident: quotedName,
  quote_literal: quoted('NULL'),
  quote_nullable: quoted("'NULL'"),
};
