import { AppError } from '../../errors.ts';
import type { RefusalFormat, Route } from './route.ts';

export interface Match {
  readonly route: Route;
  /**
   * The path parameter, still percent-encoded. Undefined if the route has none.
   */
  readonly parameter: string | undefined;
}

/** All rows with the same path. */
interface Resource {
  /** Path segments; undefined matches any segment that is not empty. */
  readonly segments: ReadonlyArray<string | undefined>;
  /** Index of the segment that is a parameter, or -1; a path has at most one. */
  readonly parameterIndex: number;
  readonly byMethod: Map<string, Route>;
}

const isParameter = (segment: string): boolean => segment.startsWith('{') && segment.endsWith('}');

/**
 * Finds the row for a request. Paths are compared segment by segment without decoding, so an encoded slash
 * does not separate segments, and `..` is an ordinary name. A path without a parameter takes precedence over
 * one with a parameter.
 */
export class Router {
  readonly #exact = new Map<string, Resource>();
  readonly #patterns: Resource[] = [];

  constructor(routes: readonly Route[]) {
    const byPath = new Map<string, Resource>();
    for (const route of routes) {
      const segments = route.path.split('/');
      if (segments.filter(isParameter).length > 1) throw new Error(`BUG: ${route.path} has two parameters`);
      const resource: Resource = byPath.get(route.path) ?? {
        segments: segments.map((segment) => (isParameter(segment) ? undefined : segment)),
        parameterIndex: segments.findIndex(isParameter),
        byMethod: new Map(),
      };
      if (resource.byMethod.has(route.method)) throw new Error(`BUG: ${route.method} ${route.path} twice`);
      resource.byMethod.set(route.method, route);
      if (route.method === 'GET') resource.byMethod.set('HEAD', route);
      byPath.set(route.path, resource);
    }
    for (const [path, resource] of byPath) {
      if (resource.segments.includes(undefined)) this.#patterns.push(resource);
      else this.#exact.set(path, resource);
    }
  }

  /**
   * The format of errors on a path, for every method; undefined if the path has none or does not exist.
   */
  refusalOf(path: string): RefusalFormat | undefined {
    const resource = this.#exact.get(path) ?? this.#pattern(path.split('/'));
    const [route] = resource?.byMethod.values() ?? [];
    return route?.refusal;
  }

  #pattern(segments: readonly string[]): Resource | undefined {
    return this.#patterns.find((pattern) => fits(pattern, segments));
  }

  /** @throws AppError `not_found`, `method_not_allowed` with the detail `allow` */
  match(method: string, path: string): Match {
    const exact = this.#exact.get(path);
    if (exact !== undefined) return { route: routeOf(exact, method), parameter: undefined };
    const segments = path.split('/');
    const resource = this.#pattern(segments);
    if (resource === undefined) throw new AppError('not_found', 'no route has this path');
    return { route: routeOf(resource, method), parameter: segments[resource.parameterIndex] };
  }
}

function routeOf(resource: Resource, method: string): Route {
  const route = resource.byMethod.get(method);
  if (route !== undefined) return route;
  const allow = [...resource.byMethod.keys()];
  throw new AppError('method_not_allowed', `this path takes ${allow.join(', ')}`, { details: { allow } });
}

const fits = (pattern: Resource, segments: readonly string[]): boolean =>
  pattern.segments.length === segments.length &&
  pattern.segments.every((expected, index) =>
    expected === undefined ? segments[index] !== '' : expected === segments[index],
  );
