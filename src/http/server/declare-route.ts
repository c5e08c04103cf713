import type { JsonBody } from './json-body.ts';
import type { ReadableParameters } from './query-parameters.ts';
import type { Reply } from './reply.ts';
import type {
  AuthorizedRequest,
  DatasetRequest,
  DatasetRoute,
  PublicRequest,
  PublicRoute,
  ServiceRoute,
} from './route.ts';

/** The body and the parameters of a request, checked against the schemas of the route. */
export interface Input<Body, Query> {
  readonly body: Body;
  readonly query: Query;
}

/** A row of the route table whose handler gets the checked body and parameters. */
export type Declared<Row, Request, Body, Query> = Omit<Row, 'handler' | 'body' | 'query'> & {
  readonly body?: JsonBody<Body>;
  readonly query?: ReadableParameters<Query>;
  handler(request: Request, input: Input<Body, Query>): Reply | Promise<Reply>;
};

/** A route that needs no credentials. */
export const publicRoute = <Body = undefined, Query = undefined>(
  declared: Declared<PublicRoute, PublicRequest, Body, Query>,
): PublicRoute => ({ ...declared, handler: reading(declared, ({ body }) => body) });

/** A route that needs a permission for the tenant or the service. */
export const serviceRoute = <Body = undefined, Query = undefined>(
  declared: Declared<ServiceRoute, AuthorizedRequest, Body, Query>,
): ServiceRoute => ({ ...declared, handler: reading(declared, ({ body }) => body) });

/** A route that needs a permission for the dataset that the request names. */
export const datasetRoute = <Body = undefined, Query = undefined>(
  declared: Declared<DatasetRoute, DatasetRequest, Body, Query>,
): DatasetRoute => ({ ...declared, handler: reading(declared, ({ body }) => body) });

interface Readers<Request, Body, Query> {
  readonly body?: JsonBody<Body>;
  readonly query?: ReadableParameters<Query>;
  handler(request: Request, input: Input<Body, Query>): Reply | Promise<Reply>;
}

function reading<Request extends { readonly queryString: string }, Body, Query>(
  { body, query, handler }: Readers<Request, Body, Query>,
  bodyOf: (request: Request) => Uint8Array,
): (request: Request) => Reply | Promise<Reply> {
  return (request) => {
    // Without a schema, the type of the member is `undefined`.
    const input = {
      query: query?.read(request.queryString),
      body: body?.read(bodyOf(request)),
    } as Input<Body, Query>;
    return handler(request, input);
  };
}
