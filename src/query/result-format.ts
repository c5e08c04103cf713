import type { StreamFormat } from '../clickhouse/store.ts';
import { limits } from '../limits/limits.ts';

/** The forms that a result can have. */
export const resultFormats = ['json', 'ndjson', 'csv', 'arrow', 'parquet'] as const;
export type ResultFormat = (typeof resultFormats)[number];
/** Rows are for a front end that makes its own form of them, cell by cell. */
export type OutputForm = ResultFormat | 'rows';

interface StoreOutput {
  readonly format: StreamFormat;
  readonly settings: Readonly<Record<string, string | number>>;
}

/** What is JSON has RFC 3339, plain numbers, and strings for what JSON has no number for. */
const json = {
  date_time_output_format: 'iso',
  output_format_json_quote_64bit_integers: 0,
  output_format_json_quote_64bit_floats: 0,
  output_format_json_quote_decimals: 0,
  output_format_json_quote_denormals: 1,
} as const;

/** For columns with a type of their own each: arrays that can be NULL, and casts of many columns. */
const typedColumns = {
  allow_experimental_nullable_tuple_type: 1,
  max_ast_elements: limits.maxTypedResultElements,
} as const;

/** How the store is to write a result. */
export const storeOutputs: Readonly<Record<OutputForm, StoreOutput>> = {
  json: { format: 'JSONEachRow', settings: { ...json, output_format_json_array_of_rows: 1 } },
  ndjson: { format: 'JSONEachRow', settings: { ...json, output_format_json_array_of_rows: 0 } },
  csv: {
    format: 'CSVWithNames',
    // NULL is nothing at all, and an empty text is "", as in PostgreSQL.
    settings: { date_time_output_format: 'iso', format_csv_null_representation: '' },
  },
  arrow: {
    format: 'ArrowStream',
    // Not every reader of Arrow can decompress it. Text is text, not bytes.
    settings: {
      output_format_arrow_compression_method: 'none',
      output_format_arrow_string_as_string: 1,
      ...typedColumns,
    },
  },
  parquet: {
    format: 'Parquet',
    settings: {
      output_format_parquet_compression_method: 'zstd',
      output_format_parquet_string_as_string: 1,
      ...typedColumns,
      // The store holds a group until it is complete.
      output_format_parquet_row_group_size: limits.parquetGroupRows,
      output_format_parquet_row_group_size_bytes: limits.parquetGroupBytes,
    },
  },
  rows: {
    format: 'TabSeparated',
    // Such that most cells are PostgreSQL's text as they are.
    settings: {
      date_time_output_format: 'simple',
      bool_true_representation: 't',
      bool_false_representation: 'f',
      output_format_decimal_trailing_zeros: 1,
    },
  },
};
