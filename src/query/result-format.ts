import type { StreamFormat } from '../clickhouse/store.ts';
import { limits } from '../limits/limits.ts';

/** The formats that a client can choose for a result. */
export const resultFormats = ['json', 'ndjson', 'csv', 'arrow', 'parquet'] as const;
export type ResultFormat = (typeof resultFormats)[number];
/**
 * `rows` is for a front end that reads each cell and writes a format of its own. `arrays` is JSON with an
 * array for each row and a line feed after it: in objects, columns of the same name would be lost.
 */
export type OutputForm = ResultFormat | 'rows' | 'arrays';

interface StoreOutput {
  readonly format: StreamFormat;
  readonly settings: Readonly<Record<string, string | number>>;
}

/** JSON: times in RFC 3339, plain numbers, and strings for numbers that JSON does not have. */
const json = {
  date_time_output_format: 'iso',
  output_format_json_quote_64bit_integers: 0,
  output_format_json_quote_64bit_floats: 0,
  output_format_json_quote_decimals: 0,
  output_format_json_quote_denormals: 1,
} as const;

/** For formats with typed columns: allows NULL arrays, and casts of many columns. */
const typedColumns = {
  allow_experimental_nullable_tuple_type: 1,
  max_ast_elements: limits.maxTypedResultElements,
} as const;

/** The format and the settings with which the store writes each form of a result. */
export const storeOutputs: Readonly<Record<OutputForm, StoreOutput>> = {
  json: { format: 'JSONEachRow', settings: { ...json, output_format_json_array_of_rows: 1 } },
  ndjson: { format: 'JSONEachRow', settings: { ...json, output_format_json_array_of_rows: 0 } },
  arrays: { format: 'JSONCompactEachRow', settings: json },
  csv: {
    format: 'CSVWithNames',
    // NULL is an empty field, and an empty text is "", as in PostgreSQL.
    settings: { date_time_output_format: 'iso', format_csv_null_representation: '' },
  },
  arrow: {
    format: 'ArrowStream',
    // Uncompressed, because some readers of Arrow cannot decompress it. Text has the type text, not bytes.
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
      // Bounded, because the store keeps a row group in memory until it is complete.
      output_format_parquet_row_group_size: limits.parquetGroupRows,
      output_format_parquet_row_group_size_bytes: limits.parquetGroupBytes,
    },
  },
  rows: {
    format: 'TabSeparated',
    // With these settings most cells are already PostgreSQL's text.
    settings: {
      date_time_output_format: 'simple',
      bool_true_representation: 't',
      bool_false_representation: 'f',
      output_format_decimal_trailing_zeros: 1,
    },
  },
};
