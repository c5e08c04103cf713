import { AppError } from '../errors.ts';
import { parseJsonBody } from './json-body.ts';

const queryMembers = ['query', 'startTime', 'endTime', 'streamName'] as const;
type Member = (typeof queryMembers)[number];
export type QueryBody = { readonly query: string } & { readonly [Name in Exclude<Member, 'query'>]?: string };

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
  const given: { [Name in Member]?: string } = {};
  for (const [member, text] of membersOf(body, queryMembers, '{"query": "SELECT …"}')) {
    if (typeof text !== 'string') throw new AppError('bad_request', `${member} must be a string`);
    given[member] = text;
  }
  const { query, ...rest } = given;
  if (query === undefined || query.trim() === '') throw new AppError('bad_request', 'query must hold SQL');
  return { query, ...rest };
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
  const value = parseJsonBody(body);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new AppError('bad_request', `the body must be an object: ${example}`);
  }
  return Object.entries(value).map(([name, content]) => {
    const member = known.find((each) => each === name);
    if (member !== undefined) return [member, content] as const;
    const reason = `${JSON.stringify(name.slice(0, 40))} is not a member of a query; known are ${known.join(', ')}`;
    throw new AppError('bad_request', reason);
  });
}
