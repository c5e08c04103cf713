import * as v from 'valibot';
import { AppError } from '../../../errors.ts';
import { type ResultFormat, resultFormats } from '../../../query/result-format.ts';
import { queryParameters } from '../../server/query-parameters.ts';

/** The media type of each format in replies. */
export const mediaTypeOf: Readonly<Record<ResultFormat, string>> = {
  json: 'application/json',
  ndjson: 'application/x-ndjson',
  csv: 'text/csv; charset=utf-8; header=present',
  arrow: 'application/vnd.apache.arrow.stream',
  parquet: 'application/vnd.apache.parquet',
};

/**
 * The media types that `Accept` may name. If several have the same quality, the first of this list is used.
 */
const acceptNames: ReadonlyMap<string, ResultFormat> = new Map([
  ['application/json', 'json'],
  ['application/x-ndjson', 'ndjson'],
  ['application/ndjson', 'ndjson'],
  ['application/jsonl', 'ndjson'],
  ['text/csv', 'csv'],
  ['application/vnd.apache.arrow.stream', 'arrow'],
  ['application/vnd.apache.parquet', 'parquet'],
]);

/** The parameters of a request about its result. */
export const resultParameters = queryParameters({
  format: v.optional(
    v.pipe(
      v.picklist(resultFormats, `may be ${resultFormats.join(', ')}`),
      v.description('The format of the result; it takes precedence over `Accept`.'),
    ),
  ),
  export: v.optional(
    v.pipe(
      v.picklist(['true', 'false'], 'may be true or false'),
      v.description('`true`: the result may have any size. It needs the privilege `exporter` or `admin`.'),
    ),
  ),
  fields: v.optional(
    v.pipe(
      v.picklist(['true', 'false', 'arrays'], 'may be true, false or arrays'),
      v.description(
        '`true`: the records are in an object, with the columns before them. `arrays`, with `format=ndjson`: first a line `{"columns": [{"name", "type"}]}`, then a line for each row with its values in an array, so that columns may have the same name, then a line `{"statistics"}`.',
      ),
    ),
  ),
});

/**
 * The format that a request asks for: `?format=`, or else `Accept`, or else JSON.
 * @param accept the header; empty when absent
 * @throws AppError `not_acceptable`
 */
export function chooseFormat(parameter: ResultFormat | undefined, accept: string): ResultFormat {
  if (parameter !== undefined) return parameter;
  if (accept.trim() === '') return 'json';
  const ranges = accept.split(',').map(readRange);
  let best: { readonly format: ResultFormat; readonly quality: number } | undefined;
  for (const [name, format] of acceptNames) {
    const quality = qualityOf(name, ranges);
    if (quality > (best?.quality ?? 0)) best = { format, quality };
  }
  if (best !== undefined) return best.format;
  throw new AppError('not_acceptable', `a result can be ${[...acceptNames.keys()].join(', ')}`, {
    details: { supported: [...acceptNames.keys()] },
  });
}

interface MediaRange {
  readonly type: string;
  readonly subtype: string;
  readonly quality: number;
}

/**
 * One media range of RFC 9110 section 12.5.1. Parameters other than `q` are ignored; a malformed `q` means 0.
 */
function readRange(text: string): MediaRange {
  const [name = '', ...parameters] = text.split(';').map((part) => part.trim().toLowerCase());
  const [type = '', subtype = ''] = name.split('/');
  const written = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2) ?? '1';
  const quality = /^(?:0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/.test(written) ? Number(written) : 0;
  return { type, subtype, quality };
}

/** The quality of a media type, from the most specific range that matches it. */
function qualityOf(mediaType: string, ranges: readonly MediaRange[]): number {
  const [type, subtype] = mediaType.split('/');
  const closest =
    ranges.find((range) => range.type === type && range.subtype === subtype) ??
    ranges.find((range) => range.type === type && range.subtype === '*') ??
    ranges.find((range) => range.type === '*' && range.subtype === '*');
  return closest?.quality ?? 0;
}
