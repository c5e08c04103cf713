import { AppError } from '../../errors.ts';

/**
 * Errors that PostgreSQL tells apart and the codes of `errors.ts` do not: what they have in common is that a
 * value of the query is wrong.
 */
export type CatalogSqlState =
  | 'invalid_parameter_value'
  | 'undefined_object'
  | 'invalid_schema_name'
  | 'invalid_catalog_name'
  | 'invalid_name'
  | 'syntax_error'
  | 'null_value_not_allowed'
  | 'substring_error'
  | 'invalid_escape_sequence'
  | 'invalid_row_count_in_limit_clause'
  | 'invalid_row_count_in_result_offset_clause'
  | 'wrong_object_type'
  | 'feature_not_supported'
  | 'undefined_function';

/** PostgreSQL's documentation, appendix A, "PostgreSQL Error Codes". */
const sqlStates: Readonly<Record<CatalogSqlState, string>> = {
  invalid_parameter_value: '22023',
  undefined_object: '42704',
  invalid_schema_name: '3F000',
  invalid_catalog_name: '3D000',
  invalid_name: '42602',
  syntax_error: '42601',
  null_value_not_allowed: '22004',
  substring_error: '22011',
  invalid_escape_sequence: '22025',
  invalid_row_count_in_limit_clause: '2201W',
  invalid_row_count_in_result_offset_clause: '2201X',
  wrong_object_type: '42809',
  feature_not_supported: '0A000',
  undefined_function: '42883',
};

/** @param at byte offset in the query */
export const catalogError = (state: CatalogSqlState, message: string, at?: number): AppError =>
  new AppError('sql_bad_value', message, {
    details: { sqlState: sqlStates[state], ...(at === undefined ? {} : { offset: at }) },
  });

export const noRelation = (name: string): AppError =>
  new AppError('sql_unknown_relation', `relation "${name}" does not exist`);

/** @param offset in bytes */
export const noColumn = (message: string, hint: string | undefined, offset?: number): AppError =>
  new AppError('sql_unknown_column', message, {
    details: { ...(hint === undefined ? {} : { hint }), ...(offset === undefined ? {} : { offset }) },
  });
