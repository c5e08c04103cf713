import type { DecodeResult } from '../../../src/decode/task.ts';
import type { TableName } from '../../../src/model/dataset.ts';
import { type NativeRow, nativeRows } from '../clickhouse/native-rows.ts';

export type Decoded = DecodeResult & { readonly ok: true };

/** @throws Error if everything was refused */
export function decoded(result: DecodeResult): Decoded {
  if (!result.ok) throw new Error(`${result.code}: ${result.message}`);
  return result;
}

export function refusal(result: DecodeResult): { readonly code: string; readonly message: string } {
  if (result.ok) throw new Error('The request was accepted');
  return { code: result.code, message: result.message };
}

export const rowsOf = (result: DecodeResult, table: TableName): NativeRow[] =>
  decoded(result)
    .blocks.filter((block) => block.table === table)
    .flatMap(nativeRows);
