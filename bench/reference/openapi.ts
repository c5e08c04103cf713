/**
 * The API as OpenAPI 3.1 (https://spec.openapis.org/oas/v3.1.0), made from the route table and the schemas
 * that check what requests send.
 */
import { toJsonSchema } from '@valibot/to-json-schema';
import * as v from 'valibot';
import { AppError, type ErrorCode, errorDefinitions } from '../../src/errors.ts';
import { problemReply, type Reply } from '../../src/http/server/reply.ts';
import type { ParameterReference, ReplyReference, Route } from '../../src/http/server/route.ts';
import type { Schema } from '../../src/lib/validation.ts';
import { datasetNamePattern } from '../../src/model/dataset.ts';
import { errorsOf } from './common-errors.ts';

export type JsonSchema = { readonly [Member in string]?: unknown };

interface Response {
  readonly description: string;
  readonly headers?: Readonly<Record<string, unknown>>;
  readonly content?: Readonly<Record<string, { readonly schema: JsonSchema }>>;
}
interface Reference {
  readonly $ref: string;
}

export interface Operation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description?: string;
  readonly security?: readonly unknown[];
  readonly parameters: readonly unknown[];
  readonly requestBody?: {
    readonly description: string;
    readonly required: boolean;
    readonly content: Readonly<Record<string, { readonly schema: JsonSchema }>>;
  };
  readonly responses: Readonly<Record<string, Response | Reference>>;
}

export interface OpenApiDocument {
  readonly openapi: '3.1.0';
  readonly info: Readonly<Record<string, unknown>>;
  readonly tags: readonly unknown[];
  readonly security: readonly unknown[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: {
    readonly securitySchemes: Readonly<Record<string, unknown>>;
    readonly parameters: Readonly<Record<string, unknown>>;
    readonly responses: Readonly<Record<string, Response>>;
    readonly schemas: Readonly<Record<string, JsonSchema>>;
  };
}

/** @param version of Millrace */
export function openApiDocument(routes: readonly Route[], version: string): OpenApiDocument {
  const components = new Components();
  const paths: Record<string, Record<string, Operation>> = {};
  for (const route of routes) {
    const operations = paths[route.path] ?? {};
    operations[route.method.toLowerCase()] = operationOf(route, components);
    paths[route.path] = operations;
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Millrace',
      version,
      description:
        'Telemetry in, SQL out. HEAD is answered wherever GET is. Every error has a code: see `errors.md` beside this document.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    tags: [...new Set(routes.map(({ reference }) => reference.group))].map((name) => ({ name })),
    security: [{ password: [] }, { apiKey: [] }, { token: [] }, { session: [] }],
    paths: components.shared(paths),
    components: {
      securitySchemes: {
        password: { type: 'http', scheme: 'basic' },
        apiKey: { type: 'apiKey', in: 'header', name: 'X-API-Key' },
        token: {
          type: 'http',
          scheme: 'bearer',
          description: 'A token of the identity provider, if there is one.',
        },
        session: {
          type: 'apiKey',
          in: 'cookie',
          name: '__Host-millrace-session',
          description: 'A sign-in; over HTTP without TLS the name is `millrace-session`.',
        },
      },
      parameters: {
        Tenant: header('X-P-Tenant', 'The tenant to act in. A server with several tenants needs it.'),
      },
      ...components.sections(),
    },
  };
}

const header = (name: string, description: string, required = false) => ({
  name,
  in: 'header',
  description,
  required,
  schema: { type: 'string' },
});

/** Parts that several operations share, by name. */
class Components {
  readonly #schemas = new Map<string, JsonSchema>([
    [
      'Problem',
      {
        type: 'object',
        description: 'What went wrong (RFC 9457). Some codes have further members.',
        properties: {
          type: { type: 'string', description: '`urn:millrace:error:` and the code.' },
          title: { type: 'string', description: 'The same for each error of this code.' },
          status: { type: 'integer' },
          detail: { type: 'string', description: 'What was wrong, where, and what is allowed.' },
          code: { type: 'string' },
          pointer: {
            type: 'string',
            description: 'The bad member of the body, as a JSON pointer (RFC 6901).',
          },
        },
        required: ['type', 'title', 'status', 'detail', 'code'],
      },
    ],
    [
      'RpcStatus',
      {
        type: 'object',
        description:
          'What went wrong, as OTLP says it (`google.rpc.Status`). The code of Millrace ends the message.',
        properties: { code: { type: 'integer' }, message: { type: 'string' } },
        required: ['code', 'message'],
      },
    ],
  ]);
  readonly #responses = new Map<string, Response>();

  /** The JSON Schema of a schema; those with a title become components. */
  schema(schema: Schema<unknown>): JsonSchema {
    const { $schema: _, ...made } = toJsonSchema(schema, {
      target: 'draft-2020-12',
      // Checks that JSON Schema cannot express; they are in the description.
      ignoreActions: ['check'],
    });
    return this.#lifted(made) as JsonSchema;
  }

  #lifted(value: unknown): unknown {
    if (Array.isArray(value)) return value.map((each) => this.#lifted(each));
    if (typeof value !== 'object' || value === null) return value;
    const members = Object.fromEntries(
      Object.entries(value).map(([name, member]) => [name, this.#lifted(member)]),
    );
    const { title } = members;
    if (typeof title !== 'string') return members;
    this.#add(this.#schemas, title, members);
    return { $ref: `#/components/schemas/${title}` };
  }

  /** Puts responses that several operations have in one place. */
  shared(paths: OpenApiDocument['paths']): OpenApiDocument['paths'] {
    const uses = new Map<string, number>();
    for (const { responses } of operationsOf(paths)) {
      for (const response of Object.values(responses)) {
        const text = JSON.stringify(response);
        uses.set(text, (uses.get(text) ?? 0) + 1);
      }
    }
    const names = new Map<string, string>();
    const share = (response: Response | Reference): Response | Reference => {
      const text = JSON.stringify(response);
      if ((uses.get(text) ?? 0) < minSharedUses || '$ref' in response) return response;
      const base = responseName(response);
      if (base === undefined) return response;
      const name = names.get(text) ?? this.#freeName(base);
      names.set(text, name);
      this.#responses.set(name, response);
      return { $ref: `#/components/responses/${name}` };
    };
    return mapValues(paths, (operations) =>
      mapValues(operations, (operation) => ({
        ...operation,
        responses: mapValues(operation.responses, share),
      })),
    );
  }

  #freeName(name: string): string {
    for (let number = 1; ; number += 1) {
      const numbered = number === 1 ? name : `${name}${number}`;
      if (!this.#responses.has(numbered)) return numbered;
    }
  }

  sections(): Pick<OpenApiDocument['components'], 'responses' | 'schemas'> {
    return {
      responses: Object.fromEntries(this.#responses),
      schemas: Object.fromEntries(this.#schemas),
    };
  }

  #add<Value>(components: Map<string, Value>, name: string, value: Value): void {
    const known = components.get(name);
    if (known !== undefined && JSON.stringify(known) !== JSON.stringify(value)) {
      throw new Error(`BUG: two schemas have the title ${name}`);
    }
    components.set(name, value);
  }
}

function operationOf(route: Route, components: Components): Operation {
  const { reference, body, permission } = route;
  const isPublic = permission === 'public';
  return {
    operationId: operationId(route),
    tags: [reference.group],
    summary: reference.summary,
    ...(reference.details === undefined ? {} : { description: reference.details }),
    ...(isPublic ? { security: [] } : {}),
    parameters: parametersOf(route, components),
    ...(body === undefined
      ? {}
      : {
          requestBody: {
            description: [
              body.reference.description,
              `Content-Encoding: ${body.encodings.join(', ')}.`,
              `At most ${sizeText(body.maxBytes)}${body.reserve === undefined ? '' : ', by default'}.`,
            ].join(' '),
            required: body.reference.isRequired,
            content: contentOf(body.reference.content, components),
          },
        }),
    responses: {
      ...Object.fromEntries(
        reference.replies.map((reply) => [String(reply.status), responseOf(reply, components)]),
      ),
      ...errorResponses(route),
    },
  };
}

/** `PUT /api/v1/role/{name}`: `putRoleName`. */
const operationId = ({ method, path }: Route): string => {
  const words = path
    .split(/[^A-Za-z0-9]+/)
    .filter((word) => word !== '' && word !== 'api' && word !== 'v1')
    .map((word) => word.slice(0, 1).toUpperCase() + word.slice(1));
  return method.toLowerCase() + (words.length === 0 ? 'Root' : words.join(''));
};

function parametersOf(route: Route, components: Components): readonly unknown[] {
  const { reference, query, permission, dataset } = route;
  const name = /\{(\w+)\}/.exec(route.path)?.[1];
  const parameter = dataset === 'path' ? datasetParameter : reference.parameter;
  if ((name === undefined) !== (parameter === undefined)) {
    throw new Error(`BUG: ${route.path} and the reference of its parameter do not fit`);
  }
  const shown = (where: string, each: string, schema: Schema<unknown>, required: boolean) => {
    const { description, ...rest } = components.schema(schema);
    return {
      name: each,
      in: where,
      ...(description === undefined ? {} : { description }),
      required,
      schema: rest,
    };
  };
  const described = (
    where: string,
    each: string,
    { description, schema }: ParameterReference,
    required: boolean,
  ) => ({
    ...shown(where, each, schema, required),
    description,
  });
  return [
    ...(name === undefined || parameter === undefined ? [] : [described('path', name, parameter, true)]),
    ...Object.entries(query?.schemas ?? {}).map(([each, schema]) => shown('query', each, schema, false)),
    ...(dataset === 'header' ? [streamHeader(route.defaultDataset)] : []),
    ...(permission === 'public' || route.tenant === 'none'
      ? []
      : [{ $ref: '#/components/parameters/Tenant' }]),
    ...(route.body?.takesIdempotencyKey === true
      ? [header('Idempotency-Key', 'The same request with the same key is stored once.')]
      : []),
    ...(reference.headers ?? []).map((each) => described('header', each.name, each, false)),
  ];
}

const datasetParameter: ParameterReference = {
  description: 'The name of the dataset.',
  schema: v.pipe(v.string(), v.regex(datasetNamePattern)),
};

const streamHeader = (fallback: string | undefined) =>
  fallback === undefined
    ? header('X-P-Stream', 'The name of the dataset.', true)
    : header('X-P-Stream', `The name of the dataset; without it, \`${fallback}\`.`);

const contentOf = (content: Readonly<Record<string, Schema<unknown>>>, components: Components) =>
  Object.fromEntries(
    Object.entries(content).map(([mediaType, schema]) => [mediaType, { schema: components.schema(schema) }]),
  );

const responseOf = (reply: ReplyReference, components: Components): Response => ({
  description: reply.description,
  ...(reply.headers === undefined ? {} : { headers: headersOf(reply.headers) }),
  ...(reply.content === undefined ? {} : { content: contentOf(reply.content, components) }),
});

const sizeText = (bytes: number): string =>
  bytes % (1024 * 1024) === 0 ? `${bytes / (1024 * 1024)} MiB` : `${bytes / 1024} KiB`;

const headersOf = (headers: Readonly<Record<string, string>>) =>
  Object.fromEntries(
    Object.entries(headers).map(([name, description]) => [name, { description, schema: { type: 'string' } }]),
  );

/** Errors by the status that the route answers them with. */
function errorResponses(route: Route): Readonly<Record<string, Response>> {
  const codesByStatus = new Map<number, ErrorCode[]>();
  for (const code of errorsOf(route)) {
    const { status } = refused(route, code, '');
    codesByStatus.set(status, [...(codesByStatus.get(status) ?? []), code]);
  }
  return Object.fromEntries(
    [...codesByStatus]
      .sort(([one], [other]) => one - other)
      .map(([status, codes]) => [String(status), problem(route, codes)]),
  );
}

/** Of a refusal, by the first code that it is about: `body_too_large` is `BodyTooLarge`. */
const responseName = ({ description }: Response): string | undefined =>
  /^`(\w+)`:/
    .exec(description)?.[1]
    ?.split('_')
    .map((word) => word.slice(0, 1).toUpperCase() + word.slice(1))
    .join('');

const operationsOf = (paths: OpenApiDocument['paths']): readonly Operation[] =>
  Object.values(paths).flatMap((operations) => Object.values(operations));

const mapValues = <From, To>(
  from: Readonly<Record<string, From>>,
  change: (value: From) => To,
): Readonly<Record<string, To>> =>
  Object.fromEntries(Object.entries(from).map(([name, value]) => [name, change(value)]));

/** Fewer are easier to read where they are. */
const minSharedUses = 3;

/**
 * After these the start of the next request is unknown. They are problem details, whatever the protocol.
 */
const endingCodes: ReadonlySet<ErrorCode> = new Set(['bad_framing', 'headers_too_large']);

/** The reply to an error, as the protocol of the route wants it. */
function refused({ refusal }: Route, code: ErrorCode, contentType: string): Reply {
  const error = new AppError(code, '');
  return refusal === undefined || endingCodes.has(code) ? problemReply(error) : refusal(error, contentType);
}

function problem(route: Route, codes: readonly ErrorCode[]): Response {
  const requestTypes = Object.keys(route.body?.reference.content ?? { '': undefined });
  const types = new Set(
    codes.flatMap((code) => requestTypes.map((type) => refused(route, code, type).contentType ?? '')),
  );
  const isRetryable = codes.some((code) => errorDefinitions[code].retryable);
  return {
    description: codes.map((code) => `\`${code}\`: ${errorDefinitions[code].title}.`).join('\n'),
    ...(isRetryable
      ? { headers: headersOf({ 'Retry-After': 'Seconds to wait, where a retry makes sense.' }) }
      : {}),
    content: Object.fromEntries([...types].map((type) => [type, { schema: problemSchema(type, codes) }])),
  };
}

function problemSchema(mediaType: string, codes: readonly ErrorCode[]): JsonSchema {
  if (mediaType === 'application/problem+json') {
    return { $ref: '#/components/schemas/Problem', properties: { code: { enum: codes } } };
  }
  return mediaType === 'application/json' ? { $ref: '#/components/schemas/RpcStatus' } : {};
}
