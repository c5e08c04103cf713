import { AppError } from '../../../errors.ts';
import { jsonElements, jsonMember } from '../../../lib/json-elements.ts';
import { limits } from '../../../limits/limits.ts';
import type { ParameterValue } from '../../../sql/parameters.ts';
import { parseJsonBody } from '../../server/json-body.ts';

const queryMembers = ['query', 'startTime', 'endTime', 'streamName', 'params'] as const;
type TextMember = Exclude<(typeof queryMembers)[number], 'params'>;
export type QueryBody = { readonly query: string; readonly params?: readonly ParameterValue[] } & {
  readonly [Name in Exclude<TextMember, 'query'>]?: string;
};

export interface CountsBody {
  readonly stream: string;
  readonly startTime: string;
  readonly endTime: string;
  readonly numBins?: number;
}

/**
 * Reads the body of a query. A member that is not known is refused: a misspelled `startTime` would otherwise
 * quietly read all of the data.
 * @throws AppError `bad_json`, `bad_request`
 */
export function parseQueryBody(body: Uint8Array): QueryBody {
  const given: { [Name in TextMember]?: string } = {};
  let params: readonly ParameterValue[] | undefined;
  for (const [member, text] of membersOf(body, queryMembers, '{"query": "SELECT …"}')) {
    if (member === 'params') params = readParameters(text, body);
    else if (typeof text !== 'string') throw new AppError('bad_request', `${member} must be a string`);
    else given[member] = text;
  }
  const { query, ...rest } = given;
  if (query === undefined || query.trim() === '') throw new AppError('bad_request', 'query must hold SQL');
  return { query, ...rest, ...(params === undefined ? {} : { params }) };
}

/** From the text of the body, since JavaScript's numbers would lose digits of large ones. */
function readParameters(value: unknown, body: Uint8Array): readonly ParameterValue[] {
  if (!Array.isArray(value))
    throw new AppError('bad_request', 'params must be an array: [value of $1, value of $2, …]');
  const { maxQueryParameters } = limits;
  if (value.length > maxQueryParameters) {
    throw new AppError(
      'bad_request',
      `params has ${value.length} values; at most ${maxQueryParameters} are allowed`,
    );
  }
  const source = jsonMember(
    Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('utf8'),
    'params',
  );
  return jsonElements(source ?? '[]').map((element): ParameterValue => {
    if (element === 'null') return null;
    if (element.startsWith('"')) return JSON.parse(element) as string;
    return element.startsWith('[') || element.startsWith('{') ? { json: element } : element;
  });
}

/** @throws AppError `bad_json`, `bad_request` */
export function parseCountsBody(body: Uint8Array): CountsBody {
  const example = '{"stream": "app", "startTime": "1h", "endTime": "now"}';
  const given = new Map(membersOf(body, ['stream', 'startTime', 'endTime', 'numBins'], example));
  const [stream, startTime, endTime] = (['stream', 'startTime', 'endTime'] as const).map((member) => {
    const text = given.get(member);
    if (typeof text === 'string') return text;
    throw new AppError('bad_request', `${member} must be a string`);
  });
  if (stream === undefined || startTime === undefined || endTime === undefined)
    throw new Error('BUG: three members');
  const numBins = given.get('numBins');
  if (numBins === undefined) return { stream, startTime, endTime };
  if (typeof numBins === 'number') return { stream, startTime, endTime, numBins };
  throw new AppError('bad_request', 'numBins must be a number');
}

function membersOf<Name extends string>(
  body: Uint8Array,
  known: readonly Name[],
  example: string,
): readonly (readonly [Name, unknown])[] {
  if (hasMoreMarks(body, limits.maxQueryBodyMarks)) {
    const reason = `the body must be an object of a few texts, and of values of parameters: ${example}`;
    throw new AppError('bad_request', reason);
  }
  const value = parseJsonBody(body);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new AppError('bad_request', `the body must be an object: ${example}`);
  }
  return Object.entries(value).map(([name, content]) => {
    const member = known.find((each) => each === name);
    if (member !== undefined) return [member, checkLength(member, content)] as const;
    const reason = `${JSON.stringify(name.slice(0, 40))} is not a member of a query; known are ${known.join(', ')}`;
    throw new AppError('bad_request', reason);
  });
}

function checkLength(member: string, content: unknown): unknown {
  const { maxQueryOptionLength } = limits;
  if (member === 'query' || typeof content !== 'string' || content.length <= maxQueryOptionLength)
    return content;
  throw new AppError('bad_request', `${member} is longer than ${maxQueryOptionLength} characters`);
}

const [quote, backslash, brace, bracket, comma] = [0x22, 0x5c, 0x7b, 0x5b, 0x2c];

/** Counts what makes JSON expensive to parse, before it is; a text, however long, is not. */
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
