/**
 * Values from outside (bodies, query parameters, records of the metadata log) against schemas of valibot: one
 * way to say what is allowed, and one way to say what was wrong and where. The reference of the API is made
 * from the same schemas, so that they describe JSON as it is sent and change nothing of it.
 *
 * valibot loads in 5 to 6 ms, zod's `mini` in 43 to 86 (Node.js 20, a warm disk), and both take about
 * 0.2 µs for a small object; a start of the service has no 40 ms to give away.
 */
import * as v from 'valibot';
import { AppError, type ErrorCode } from '../errors.ts';

/** A schema that leaves what it accepts as it is. */
export type Schema<Value> = v.GenericSchema<Value>;

/** What a value from outside must be, and how an error calls it. */
export interface Expectation<Value> {
  readonly schema: Schema<Value>;
  /** What the path of a bad member begins with; empty for an object, whose members stand for themselves. */
  readonly name: string;
  /** Words before the path. */
  readonly prefix?: string;
  /** Said of a value that is of another type altogether: `a role must be an array of privileges: […]`. */
  readonly whole: string;
  readonly code: ErrorCode;
}

const maxShownNameLength = 40;

/**
 * Checks a value; the first thing that is wrong ends the check.
 * @throws AppError with the code of the expectation: the path of the bad member and what is allowed there;
 *   the detail `pointer` is that path as a JSON pointer (RFC 6901)
 */
export function validate<Value>(expectation: Expectation<Value>, value: unknown): Value {
  const result = v.safeParse(expectation.schema, value, { abortEarly: true, message: explain });
  if (result.success) return result.output;
  const [issue] = result.issues;
  const path = (issue.path ?? []).map(({ key }) => key as string | number);
  const isWhole = path.length === 0 && issue.kind === 'schema';
  const { name, prefix = '', whole, code } = expectation;
  const text = isWhole ? whole : `${prefix}${pathText(name, path, isUnknown(issue))} ${issue.message}`;
  throw new AppError(code, text, { details: { pointer: pointerOf(path) } });
}

/**
 * An object with these members and no others: a misspelt or misplaced one would otherwise be ignored, and
 * what is asked for be something else than what was meant.
 * @param unknown said of another member
 */
export function members<const Entries extends v.ObjectEntries>(entries: Entries, unknown?: string) {
  const names = Object.keys(entries).join(', ');
  const schema = v.strictObject(entries, (issue) => {
    if (isUnknown(issue)) return unknown ?? `is not known here; known are ${names}`;
    const key = issue.path?.at(-1)?.key;
    const entry = typeof key === 'string' ? entries[key] : undefined;
    return entry === undefined ? `must be an object with ${names}` : ofMissing(entry);
  });
  return withoutArrays(schema);
}

/** An object with these members and any others, which are kept as they are. */
export function openMembers<const Entries extends v.ObjectEntries>(entries: Entries) {
  const names = Object.keys(entries).join(', ');
  return withoutArrays(
    v.looseObject(entries, (issue) => {
      const key = issue.path?.at(-1)?.key;
      const entry = typeof key === 'string' ? entries[key] : undefined;
      return entry === undefined ? `must be an object with ${names}` : ofMissing(entry);
    }),
  );
}

/** valibot takes an array for an object. */
function withoutArrays<const ObjectSchema extends v.GenericSchema>(schema: ObjectSchema): ObjectSchema {
  const run: ObjectSchema['~run'] = (dataset, config) =>
    schema['~run'](Array.isArray(dataset.value) ? { value: null } : dataset, config);
  return { ...schema, '~run': run };
}

/**
 * An array of at most so many elements. A longer one is refused before its elements are looked at.
 * @param rule said of what is no array
 */
export function listOf<const Item extends v.GenericSchema>(item: Item, maxItems: number, rule?: string) {
  const list = v.array(item, rule);
  const run: (typeof list)['~run'] = (dataset, config) => {
    const { value } = dataset;
    if (!Array.isArray(value) || value.length <= maxItems) return list['~run'](dataset, config);
    return bound['~run']({ typed: true, value }, config);
  };
  const bound = v.maxLength<v.InferOutput<Item>[], number>(maxItems);
  return v.pipe({ ...list, '~run': run }, bound);
}

/** A text of at most so many characters. */
export const text = (maxCharacters: number) => v.pipe(v.string(), v.maxLength(maxCharacters));

/** One of these texts. */
export function oneOf<const Options extends readonly string[]>(options: Options) {
  const rule = options.length === 1 ? `must be "${options[0]}"` : `must be one of ${options.join(', ')}`;
  return v.picklist(options, (issue) => orMissing(issue, rule));
}

type AnyIssue = v.BaseIssue<unknown>;

/** Of an object that has a member which its schema does not know. */
const isUnknown = (issue: AnyIssue): boolean => issue.type === 'strict_object' && issue.expected === 'never';

const ofMissing = (schema: v.GenericSchema): string =>
  v.safeParse(schema, undefined, { message: explain }).issues?.[0].message ?? 'is missing';

/** What a value must be, to stand behind its path. Schemas with a message of their own say it themselves. */
function explain(issue: AnyIssue): string {
  const wording = (issue.kind === 'schema' ? kinds : bounds)[issue.type];
  return orMissing(issue, wording?.(issue) ?? `must be ${issue.expected}`);
}

const orMissing = ({ received }: AnyIssue, rule: string): string =>
  received === 'undefined' ? `is missing; it ${rule}` : rule;

type Wording = Readonly<Record<string, (issue: AnyIssue) => string>>;

const kinds: Wording = {
  string: () => 'must be a string',
  number: () => 'must be a number',
  boolean: () => 'must be true or false',
  array: () => 'must be an array',
};

const bounds: Wording = {
  max_length: ({ input, requirement, received }) =>
    typeof input === 'string'
      ? `is longer than ${requirement} characters`
      : `has ${received} entries; ${requirement} are allowed`,
  min_length: ({ input, requirement }) =>
    `must have at least ${requirement} ${typeof input === 'string' ? 'characters' : 'entries'}`,
};

const identifier = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** `privileges[2].resource.tag`. A member that is not known is in quotes: the client chose its name. */
function pathText(name: string, path: readonly (string | number)[], lastIsUnknown: boolean): string {
  let shown = name;
  for (const [index, key] of path.entries()) {
    const isStray = lastIsUnknown && index === path.length - 1;
    if (typeof key === 'number') shown += `[${key}]`;
    else if (!isStray && identifier.test(key)) shown += shown === '' ? key : `.${key}`;
    else shown += shown === '' ? quoted(key) : `.${quoted(key)}`;
  }
  return shown;
}

const quoted = (key: string): string => JSON.stringify(key.slice(0, maxShownNameLength));

const pointerOf = (path: readonly (string | number)[]): string =>
  path
    .map((key) => `/${String(key).slice(0, maxShownNameLength).replaceAll('~', '~0').replaceAll('/', '~1')}`)
    .join('');
