import { decide } from '../../src/auth/policy.ts';
import type { Route, RouteGroup } from '../../src/http/server/route.ts';
import { type Action, privilegeNames } from '../../src/model/identity.ts';
import { markdownTable } from '../markdown-table.ts';
import { errorsOf } from './common-errors.ts';
import type { JsonSchema, OpenApiDocument, Operation } from './openapi.ts';

/** `docs/reference/api.md`: the API for people, from the document that `openApiDocument` makes. */
export function apiReference(routes: readonly Route[], document: OpenApiDocument): string {
  const common = commonCodes(routes);
  const sections = groups.flatMap((group) => [
    `## ${group}`,
    ...routes
      .filter(({ reference }) => reference.group === group)
      .map((route) => routeSection(route, document, common)),
  ]);
  return `${[introduction(common), ...sections].join('\n\n')}\n`;
}

const groups: readonly RouteGroup[] = [
  'Ingest',
  'Query',
  'Datasets',
  'Dashboards',
  'Notifications',
  'Alerts',
  'Identities',
  'Tenants',
  'Backups',
  'Sign-in',
  'Status',
  'Console',
];

const introduction = (common: ReadonlySet<string>) => `# HTTP API

<!-- Written by npm run docs from the routes in src/http. Do not edit it here. -->

For programs, [openapi.json](openapi.json) describes the same API. A running service serves it at
\`GET /api/v1/openapi.json\`. Every route that answers GET also answers HEAD.

A request carries credentials in \`Authorization\` (Basic, or Bearer with a token of the identity provider), in
\`X-API-Key\`, or in the cookie of a sign-in. In multi-tenant mode, \`X-P-Tenant\` names the tenant to act in; a sign-in
already belongs to a tenant.

Errors are problem details (RFC 9457). The member \`code\` is stable; [errors.md](errors.md) lists all codes. If a member
of the body is bad, \`detail\` begins with its path, such as \`privileges[2].resource.tag\`, and \`pointer\` is the same
path as a JSON pointer. Unknown members are refused. Any request that needs credentials can be refused with
${[...common].map(code).join(', ')}.`;

/** The codes that all routes with credentials have. */
function commonCodes(routes: readonly Route[]): ReadonlySet<string> {
  const all = routes
    .filter(({ permission }) => permission !== 'public')
    .map((route) => new Set<string>(errorsOf(route)));
  return new Set([...(all[0] ?? [])].filter((each) => all.every((codes) => codes.has(each))));
}

function routeSection(route: Route, document: OpenApiDocument, common: ReadonlySet<string>): string {
  const operation = document.paths[route.path]?.[route.method.toLowerCase()];
  if (operation === undefined) throw new Error(`BUG: ${route.path} is not in the document`);
  const own = errorsOf(route).filter((each) => !common.has(each));
  return [
    `### \`${route.method} ${route.path}\``,
    `${route.reference.summary}. ${route.reference.details ?? ''}`.trim(),
    `For: ${allowed(route)}.`,
    ...parameters(operation, document),
    ...requestBody(operation, document),
    ...replies(route, operation, document),
    ...(own.length === 0 || route.permission === 'public' ? [] : [`Errors: ${own.map(code).join(', ')}.`]),
  ].join('\n\n');
}

const code = (name: string): string => `\`${name}\``;

/** Who may use a route, as the policy says. */
function allowed({ permission, dataset }: Route): string {
  if (permission === 'public') return 'anybody';
  if (permission === 'identity.self') return 'users, about themselves; `admin`, about all';
  const names = privilegeNames.filter((privilege) => holds(privilege, permission));
  if (names.length === 0) return 'the root administrator';
  const where = dataset === 'none' ? '' : ' of the dataset';
  return `${names.map(code).join(', ')}${where}`;
}

const holds = (privilege: (typeof privilegeNames)[number], action: Action): boolean =>
  decide({ kind: 'user', name: '', tenant: '', privileges: [{ privilege }] }, action);

function parameters(operation: Operation, document: OpenApiDocument): readonly string[] {
  const rows = operation.parameters
    .map((each) => resolved(each as JsonSchema, document))
    .filter(({ name }) => name !== 'X-P-Tenant')
    .map((each) => {
      const schema = each['schema'] as JsonSchema;
      const text = [each['description'], allowedText(schema)].filter(
        (part) => part !== undefined && part !== '',
      );
      return [
        code(String(each['name'])),
        String(each['in']),
        each['required'] === true ? 'yes' : '',
        text.join(' '),
      ];
    });
  return rows.length === 0 ? [] : [table(['parameter', 'in', 'required', ''], rows)];
}

function requestBody({ requestBody: body }: Operation, document: OpenApiDocument): readonly string[] {
  if (body === undefined) return [];
  const [first] = Object.values(body.content);
  const rows = first === undefined ? [] : memberRows(first.schema, document);
  return [
    `Body${body.required ? '' : ' (optional)'}: ${Object.keys(body.content).map(code).join(', ')}. ${body.description}`,
    ...(rows.length === 0 ? [] : [table(['member', 'type', 'required', ''], rows)]),
  ];
}

function replies(route: Route, operation: Operation, document: OpenApiDocument): readonly string[] {
  return route.reference.replies.flatMap(({ status, description, headers }) => {
    const response = operation.responses[String(status)];
    const content = response === undefined || '$ref' in response ? undefined : response.content;
    const types = Object.keys(content ?? {});
    const first = content?.['application/json']?.schema;
    const rows = first === undefined ? [] : memberRows(first, document);
    return [
      `Reply ${status}${types.length === 0 ? '' : ` (${types.map(code).join(', ')})`}: ${description}`,
      ...(rows.length === 0 ? [] : [table(['member', 'type', 'always present', ''], rows)]),
      ...(headers === undefined
        ? []
        : [
            table(
              ['header', ''],
              Object.entries(headers).map(([name, text]) => [code(name), text]),
            ),
          ]),
    ];
  });
}

/** A row for each member, those of members behind their own. */
function memberRows(
  given: JsonSchema,
  document: OpenApiDocument,
  path = '',
  required = true,
): readonly (readonly string[])[] {
  const schema = resolved(given, document);
  const { items, properties, additionalProperties, anyOf } = schema;
  const saysNothing =
    items !== undefined || properties !== undefined || anyOf !== undefined || allowedText(schema) === '';
  const rows =
    path === '' && saysNothing
      ? []
      : [
          [
            path === '' ? '' : code(path),
            typeText(schema, document),
            required ? 'yes' : '',
            allowedText(schema),
          ],
        ];
  const names = new Set(Array.isArray(schema['required']) ? schema['required'] : []);
  const members = Object.entries((properties ?? {}) as Readonly<Record<string, JsonSchema>>).flatMap(
    ([name, member]) => memberRows(member, document, path === '' ? name : `${path}.${name}`, names.has(name)),
  );
  const itemRows =
    isSchema(items) && hasMembers(items, document) ? memberRows(items, document, `${path}[]`).slice(1) : [];
  const others =
    isSchema(additionalProperties) && Object.keys(additionalProperties).length > 0
      ? memberRows(additionalProperties, document, path === '' ? '*' : `${path}.*`)
      : [];
  const options = Array.isArray(anyOf)
    ? (anyOf as readonly JsonSchema[])
        .filter((option) => hasMembers(option, document))
        .flatMap((option) => memberRows(option, document, path).slice(path === '' ? 0 : 1))
    : [];
  return [...rows, ...members, ...itemRows, ...others, ...options];
}

const isSchema = (value: unknown): value is JsonSchema => typeof value === 'object' && value !== null;

function hasMembers(given: JsonSchema, document: OpenApiDocument): boolean {
  const { properties, items } = resolved(given, document);
  return properties !== undefined || (isSchema(items) && hasMembers(items, document));
}

function typeText(given: JsonSchema, document: OpenApiDocument): string {
  const schema = resolved(given, document);
  const { type, items, anyOf, format } = schema;
  if (Array.isArray(anyOf)) {
    return [...new Set((anyOf as readonly JsonSchema[]).map((option) => typeText(option, document)))].join(
      ' or ',
    );
  }
  if (type === 'array') return `array of ${isSchema(items) ? typeText(items, document) : 'anything'}`;
  if (schema['const'] !== undefined) return code(JSON.stringify(schema['const']));
  if (typeof format === 'string') return format;
  return typeof type === 'string' ? type : 'anything';
}

function allowedText({
  description,
  enum: values,
  minimum,
  maximum,
  maxLength,
  maxItems,
  pattern,
}: JsonSchema): string {
  return [
    description,
    Array.isArray(values) ? `One of ${values.map((value) => code(String(value))).join(', ')}.` : undefined,
    minimum !== undefined && maximum !== undefined ? `${minimum} to ${maximum}.` : undefined,
    maxLength === undefined ? undefined : `At most ${maxLength} characters.`,
    maxItems === undefined ? undefined : `At most ${maxItems} entries.`,
    pattern === undefined ? undefined : `Matches \`${pattern}\`.`,
  ]
    .filter((part) => part !== undefined)
    .join(' ');
}

function resolved(schema: JsonSchema, document: OpenApiDocument): JsonSchema {
  const { $ref } = schema;
  if (typeof $ref !== 'string') return schema;
  const [, , section, name] = $ref.split('/');
  const found = document.components[section as 'schemas']?.[name ?? ''];
  if (found === undefined) throw new Error(`BUG: nothing is at ${$ref}`);
  return found;
}

const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  markdownTable(
    head,
    rows.map((row) => row.map(cell)),
    'text',
  );

/** Text of a cell, in which a bar or the end of a line would end the cell. */
const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('\n', ' ');
