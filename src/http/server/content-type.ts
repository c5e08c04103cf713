import type { BodyEncoding } from '../../decode/task.ts';
import { AppError } from '../../errors.ts';

/**
 * Turns a Content-Type header (empty when absent) into a media type, or throws. Parameters are dropped,
 * except those that name the format.
 */
export type ContentTypeRule = (header: string) => string;

/**
 * Accepts these media types (lower case), in any case and with any parameters.
 * @param mediaTypes the first one is assumed if the header is missing
 */
export function acceptMediaTypes(mediaTypes: readonly [string, ...string[]]): ContentTypeRule {
  const accepted = new Set<string>(mediaTypes);
  return (header) => {
    if (header === '') return mediaTypes[0];
    if (accepted.has(header)) return header;
    const mediaType = mediaTypeOf(header);
    if (accepted.has(mediaType)) return mediaType;
    throw new AppError('unsupported_media_type', `this route takes ${mediaTypes.join(', ')}`, {
      details: { supported: mediaTypes },
    });
  };
}

/** A Content-Type without its parameters, lower case. */
export const mediaTypeOf = (header: string): string => (header.split(';', 1)[0] ?? '').trim().toLowerCase();

/** The names of a content coding (RFC 9110 section 8.4.1). */
const encodingNames: ReadonlyMap<string, BodyEncoding> = new Map([
  ['', 'identity'],
  ['identity', 'identity'],
  ['gzip', 'gzip'],
  ['x-gzip', 'gzip'],
  ['deflate', 'deflate'],
  ['snappy', 'snappy'],
  ['zstd', 'zstd'],
]);

/**
 * The coding that a Content-Encoding header names (empty when absent).
 * @throws AppError `unsupported_encoding`
 */
export function acceptEncoding(header: string, accepted: readonly BodyEncoding[]): BodyEncoding {
  const encoding = encodingNames.get(header) ?? encodingNames.get(header.toLowerCase());
  if (encoding !== undefined && accepted.includes(encoding)) return encoding;
  throw new AppError('unsupported_encoding', `this route takes Content-Encoding ${accepted.join(', ')}`, {
    details: { supported: accepted },
  });
}
