import { limits } from '../../limits/limits.ts';

/**
 * Settings that give ClickHouse PostgreSQL's semantics, for every query. They go into the statement's own
 * SETTINGS clause; on a connection they would leak into what runs there next.
 */
export const semanticSettings = {
  // NULLs: from outer joins, in grouping, from aggregates of nothing, through casts, never equal in IN.
  join_use_nulls: 1,
  group_by_use_nulls: 1,
  aggregate_functions_null_for_empty: 1,
  cast_keep_nullable: 1,
  transform_null_in: 0,
  empty_result_for_aggregation_by_constant_keys_on_empty_set: 1,
  // Names and numbers mean what the translator wrote.
  prefer_column_name_to_alias: 1,
  enable_positional_arguments: 0,
  union_default_mode: 'DISTINCT',
  except_default_mode: 'DISTINCT',
  intersect_default_mode: 'DISTINCT',
  // A branch of CASE that isn't taken must not divide by zero.
  short_circuit_function_evaluation: 'force_enable',
  least_greatest_legacy_null_behavior: 0,
  decimal_check_overflow: 1,
  session_timezone: 'UTC',
  // What the translator refuses while a query runs has the codes that it was given.
  allow_custom_error_code_in_throwif: 1,
  // Bounds on what a short query could make of nothing.
  function_range_max_elements_in_block: limits.maxSeriesRows,
  max_recursive_cte_evaluation_depth: limits.maxRecursionDepth,
} as const satisfies Readonly<Record<string, string | number>>;

/**
 * For queries of those who may not see all rows: no condition of theirs is moved to where it would run
 * before the one that leaves rows out, since an error of it (a division by zero, a bad cast) would tell
 * what is in these rows.
 */
export const narrowedSettings = {
  query_plan_filter_push_down: 0,
  query_plan_merge_filters: 0,
  enable_optimize_predicate_expression: 0,
  optimize_move_to_prewhere: 0,
} as const satisfies Readonly<Record<string, string | number>>;
