import * as v from 'valibot';
import { jsonElements, jsonMember } from '../../../lib/json-elements.ts';
import { timeZoneOf, timeZoneRule } from '../../../lib/time-zone.ts';
import { type Expectation, members, text } from '../../../lib/validation.ts';
import { limits } from '../../../limits/limits.ts';
import type { ParameterValue } from '../../../sql/parameters.ts';
import { type JsonBody, type JsonBodyOptions, jsonBody } from '../../server/json-body.ts';

const time = text(limits.maxQueryOptionLength);
const startTime = v.pipe(
  time,
  v.description('RFC 3339, `YYYY-MM-DD HH:MM:SS`, a duration back from now such as `10m`, or `now`.'),
);
const endTime = v.pipe(time, v.description('As `startTime`.'));

const unknownMember = (entries: Readonly<Record<string, unknown>>): string =>
  `is not a member of a query; known are ${Object.keys(entries).join(', ')}`;

const holdsSql = 'must hold SQL';
const queryEntries = {
  query: v.pipe(
    v.string(({ received }) => (received === 'undefined' ? holdsSql : 'must be a string')),
    v.check((sql) => sql.trim() !== '', holdsSql),
    v.description('One SELECT of PostgreSQL.'),
  ),
  startTime: v.exactOptional(startTime),
  endTime: v.exactOptional(endTime),
  timeZone: v.exactOptional(
    v.pipe(
      text(limits.maxQueryOptionLength),
      v.check((name) => timeZoneOf(name) !== undefined, timeZoneRule),
      v.description(
        'In which the query computes, as `SET TimeZone` takes it, such as `Europe/Berlin`. The default is UTC.',
      ),
    ),
  ),
  streamName: v.exactOptional(
    v.pipe(text(limits.maxQueryOptionLength), v.description('A dataset that the query must read.')),
  ),
  params: v.exactOptional(
    v.pipe(
      v.array(v.unknown(), 'must be an array: [value of $1, value of $2, …]'),
      v.maxLength(
        limits.maxQueryParameters,
        ({ received }) => `has ${received} values; at most ${limits.maxQueryParameters} are allowed`,
      ),
      v.description('The values of `$1`, `$2` and so on.'),
    ),
  ),
};
const queryMembers = members(queryEntries, unknownMember(queryEntries));
type QueryMembers = v.InferOutput<typeof queryMembers>;
export type QueryBody = Omit<QueryMembers, 'params'> & {
  readonly params?: readonly ParameterValue[];
};

const query: Expectation<QueryMembers> = {
  schema: v.pipe(queryMembers, v.title('Query')),
  name: '',
  whole: 'the body must be an object: {"query": "SELECT …"}',
  code: 'bad_request',
};

const binsRule = `must be an integer from 1 to ${limits.maxCountBins}`;
const countsEntries = {
  stream: v.pipe(text(limits.maxQueryOptionLength), v.description('The dataset.')),
  startTime,
  endTime,
  numBins: v.exactOptional(
    v.pipe(
      v.number(),
      v.integer(binsRule),
      v.minValue(1, binsRule),
      v.maxValue(limits.maxCountBins, binsRule),
      v.description('How many parts the range has; without it, parts of a usual width.'),
    ),
  ),
};
const countsMembers = members(countsEntries, unknownMember(countsEntries));

const counts: Expectation<v.InferOutput<typeof countsMembers>> = {
  schema: v.pipe(countsMembers, v.title('CountsRequest')),
  name: '',
  whole: 'the body must be an object: {"stream": "app", "startTime": "1h", "endTime": "now"}',
  code: 'bad_request',
};

const bounds: Omit<JsonBodyOptions, 'description'> = {
  maxBytes: limits.maxQueryBodyBytes,
  maxMarks: limits.maxQueryBodyMarks,
  kind: 'an object of a few texts, and of values of parameters',
};

const anyQueryBody = jsonBody(query, { ...bounds, description: 'A query and its time range.' });

/**
 * The body of a query. Unknown members are refused: with a misspelled `startTime`, the query would otherwise
 * read all data.
 */
export const queryBody: JsonBody<QueryBody> = {
  ...anyQueryBody,
  read: (body) => {
    const read = anyQueryBody.read(body);
    return hasNoParameters(read) ? read : { ...read, params: readParameters(body) };
  },
};

const hasNoParameters = (read: QueryMembers): read is QueryMembers & { readonly params?: never } =>
  read.params === undefined;

/**
 * Reads the parameters from the text of the body, because JavaScript's numbers lose digits of large numbers.
 */
function readParameters(body: Uint8Array): readonly ParameterValue[] {
  const text = Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('utf8');
  return jsonElements(jsonMember(text, 'params') ?? '[]').map((element): ParameterValue => {
    if (element === 'null') return null;
    if (element.startsWith('"')) return JSON.parse(element) as string;
    return element.startsWith('[') || element.startsWith('{') ? { json: element } : element;
  });
}

export const countsBody = jsonBody(counts, { ...bounds, description: 'A dataset and a time range.' });
