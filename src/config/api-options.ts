import { boolean } from '../lib/option-values.ts';
import { needOption, type Option, type OptionTexts, readOption } from './option.ts';

/** What clients of the HTTP API may leave out, and which web pages may call it. */
export interface ApiConfig {
  /** Whether requests of protocols that cannot name a dataset go to one of a usual name. */
  readonly defaultDatasets: boolean;
  /** Origins whose pages may call the API; undefined for none, `*` for all. */
  readonly corsOrigins: ReadonlySet<string> | '*' | undefined;
}

/** An origin as browsers send it: no path, and no port that is that of its scheme. */
function parseOrigins(text: string): ApiConfig['corsOrigins'] {
  if (text === '*') return text;
  const origins = text.split(',').map((origin) => origin.trim());
  return origins.every(isOrigin) ? new Set(origins) : undefined;
}

const isOrigin = (text: string): boolean => /^https?:/.test(text) && URL.parse(text)?.origin === text;

export const apiOptions = {
  defaultDatasets: {
    env: 'MILLRACE_DEFAULT_DATASETS',
    meaning:
      'whether OTLP and remote write without X-P-Stream go to otel-logs, otel-traces, otel-metrics and prometheus; with false they get 400',
    fallback: 'true',
    parse: boolean,
    allowed: 'true, false',
  },
  corsOrigins: {
    env: 'MILLRACE_CORS_ORIGINS',
    meaning:
      'origins of web pages that may call the API from a browser; sessions and passwords are accepted from those that are listed, not with *',
    fallback: undefined,
    parse: parseOrigins,
    allowed: 'origins, separated by commas, such as https://app.example.com, http://localhost:3000; or *',
  },
} as const satisfies { readonly [K in keyof ApiConfig]: Option<NonNullable<ApiConfig[K]>> };

/** @throws ConfigError */
export const readApiOptions = (texts: OptionTexts): ApiConfig => ({
  defaultDatasets: needOption(apiOptions.defaultDatasets, texts),
  corsOrigins: readOption<NonNullable<ApiConfig['corsOrigins']>>(apiOptions.corsOrigins, texts),
});
