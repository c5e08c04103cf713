import * as v from 'valibot';
import type { DocumentBody, StoredDocument } from '../documents/document.ts';
import { type Expectation, listOf, oneOf, openMembers, text } from '../lib/validation.ts';
import { limits } from '../limits/limits.ts';
import { title } from './dashboard.ts';
import { type Visibility, visibilities } from './visibility.ts';

const combinator = oneOf(['and', 'or']);
const condition = openMembers({
  id: v.nullish(v.string()),
  field: v.string(),
  operator: v.string(),
  value: v.string(),
});
const group = openMembers({
  id: v.nullish(v.string()),
  combinator,
  rules: listOf(condition, limits.maxFilterConditions),
});
const builder = v.pipe(
  openMembers({
    id: v.nullish(v.string()),
    combinator,
    rules: listOf(group, limits.maxFilterConditions),
  }),
  v.title('FilterBuilder'),
);

/** `builder` is what an older console writes for `filter`. */
const filterTypes = ['sql', 'filter', 'search', 'builder'] as const;

/** What a client sends of a filter. Members that nobody here knows are kept. */
export const filterExpectation: Expectation<FilterContent> = {
  schema: v.pipe(
    openMembers({
      stream_name: v.pipe(v.string(), v.description('The dataset that the filter is about.')),
      filter_name: title,
      query: openMembers({
        filter_type: oneOf(filterTypes),
        filter_query: v.nullish(text(limits.maxDocumentLength)),
        filter_builder: v.nullish(builder),
      }),
      time_filter: v.nullish(openMembers({ from: v.string(), to: v.string() })),
      visibility: v.nullish(oneOf(visibilities)),
    }),
    v.title('NewFilter'),
  ),
  name: '',
  whole: 'a filter must be an object: {"stream_name": "app", "filter_name": "name", "query": {…}}',
  code: 'bad_request',
};

export interface FilterContent {
  readonly stream_name: string;
  readonly filter_name: string;
  readonly query: {
    readonly filter_type: (typeof filterTypes)[number];
    readonly filter_query?: string | null | undefined;
    readonly [member: string]: unknown;
  };
  readonly visibility?: Visibility | null | undefined;
  readonly [member: string]: unknown;
}

/** A filter as it is kept. */
export interface FilterBody extends DocumentBody {
  /** As the client sent it. */
  readonly content: FilterContent;
  /** The datasets that it reads. */
  readonly datasets: readonly string[];
  readonly visibility: Visibility;
}

export type SavedFilter = StoredDocument<FilterBody>;

/**
 * What is kept of what a client sent: all but what the service itself says of a filter.
 * @param before the filter that is replaced: its visibility stays unless another one is given
 */
export function filterBody(
  sent: FilterContent,
  datasets: readonly string[],
  before?: FilterBody,
): FilterBody {
  const { version, user_id, filter_id, tenant_id, visibility, revision, ...content } = sent;
  return {
    content: content as FilterContent,
    datasets,
    visibility: visibility ?? before?.visibility ?? 'tenant',
  };
}
