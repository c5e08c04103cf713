import { AppError, errorText } from '../../errors.ts';
import { type Expectation, validate } from '../../lib/validation.ts';
import { acceptMediaTypes } from './content-type.ts';
import type { BodyRules } from './route.ts';

/** A JSON body that is checked against a schema. */
export interface JsonBody<Value> extends BodyRules {
  /**
   * @throws AppError `bad_json`, or the code of the expectation if the body does not match the schema
   */
  read(body: Uint8Array): Value;
}

export interface JsonBodyOptions {
  readonly description: string;
  readonly maxBytes: number;
  /**
   * The most commas and opening brackets outside of strings, since each makes parsing more expensive. Needed
   * only if `maxBytes` is large.
   */
  readonly maxMarks?: number;
  /** What the body should be, for the error about too many of them. */
  readonly kind?: string;
}

export function jsonBody<Value>(expectation: Expectation<Value>, options: JsonBodyOptions): JsonBody<Value> {
  const { maxMarks = Number.POSITIVE_INFINITY, kind = 'JSON' } = options;
  const read = (body: Uint8Array): Value => {
    if (maxMarks < body.length && hasMoreMarks(body, maxMarks)) {
      throw new AppError(
        expectation.code,
        `the body must be ${kind}; it has more than ${maxMarks} commas and opening brackets`,
      );
    }
    return validate(expectation, parseJsonBody(body));
  };
  return { ...rulesOf(expectation, options, true), read };
}

/** A body that may be left out. */
export function optionalJsonBody<Value>(
  expectation: Expectation<Value>,
  options: JsonBodyOptions,
): JsonBody<Value | undefined> {
  const { read } = jsonBody(expectation, options);
  return {
    ...rulesOf(expectation, options, false),
    read: (body) => (body.byteLength === 0 ? undefined : read(body)),
  };
}

const json = 'application/json';
const acceptJson = acceptMediaTypes([json]);

const rulesOf = (
  { schema, code }: Expectation<unknown>,
  { description, maxBytes }: JsonBodyOptions,
  isRequired: boolean,
): BodyRules => ({
  maxBytes,
  contentType: acceptJson,
  encodings: ['identity'],
  reference: { description, content: { [json]: schema }, isRequired, errors: ['bad_json', code] },
});

const utf8 = new TextDecoder('utf-8', { fatal: true });

function parseJsonBody(body: Uint8Array): unknown {
  try {
    return JSON.parse(utf8.decode(body));
  } catch (error) {
    throw new AppError('bad_json', errorText(error), { cause: error });
  }
}

const [quote, backslash, brace, bracket, comma] = [0x22, 0x5c, 0x7b, 0x5b, 0x2c];

/**
 * Counts commas and opening brackets before parsing, because they make parsing expensive. Long strings do
 * not.
 */
function hasMoreMarks(body: Uint8Array, bound: number): boolean {
  let count = 0;
  let inText = false;
  for (let at = 0; at < body.length; at += 1) {
    const byte = body[at] ?? 0;
    if (byte === quote) inText = !inText;
    else if (inText) at += byte === backslash ? 1 : 0;
    else if ((byte === comma || byte === bracket || byte === brace) && ++count > bound) return true;
  }
  return false;
}
