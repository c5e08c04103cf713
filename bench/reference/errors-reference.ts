import { type ErrorDefinition, errorDefinitions } from '../../src/errors.ts';
import { markdownTable } from '../markdown-table.ts';
import { code, referencePage } from './markdown.ts';

/** `docs/reference/errors.md`: every error code, sorted by name. */
export function errorsReference(): string {
  const definitions = Object.entries<ErrorDefinition>(errorDefinitions).toSorted(([a], [b]) =>
    a < b ? -1 : 1,
  );
  const rows = definitions.map(([name, { status, sqlState, retryable, title, description }]) => [
    code(name),
    String(status),
    sqlState === undefined ? '' : code(sqlState),
    retryable ? 'yes' : 'no',
    `**${title}.** ${description}`,
  ]);
  return referencePage('Error codes', 'src/errors.ts', [
    'An error is a [problem document](https://www.rfc-editor.org/rfc/rfc9457) (`application/problem+json`) with ' +
      'these members. `detail` says what was wrong, where, and what is allowed.',
    '```text\n{"type":"urn:millrace:error:bad_json","title":"…","status":400,"detail":"…","code":"bad_json"}\n```',
    'Match on `code`: codes are stable, texts are not. `retry` says whether the same request can succeed later; ' +
      'such a reply carries `Retry-After`. OTLP routes answer with `google.rpc.Status` instead, in the encoding ' +
      'of the request, and remote write answers `rate_limited` with 503, since Prometheus drops a request after 429.',
    markdownTable(['code', 'HTTP', 'SQLSTATE', 'retry', 'meaning'], rows, 'text'),
  ]);
}
