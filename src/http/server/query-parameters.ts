import * as v from 'valibot';
import { type Expectation, validate } from '../../lib/validation.ts';
import type { QueryParameters } from './route.ts';

/** Parameters of the query string that are checked against schemas. */
export interface ReadableParameters<Values> extends QueryParameters {
  /**
   * @param queryString what follows the question mark; empty when there is none
   * @throws AppError `bad_request`
   */
  read(queryString: string): Values;
}

type OptionalTexts = Readonly<Record<string, v.GenericSchema<string | undefined>>>;

/**
 * Every parameter is optional. If one is given several times, the first counts. Unknown ones are ignored.
 * @param schemas by name
 */
export function queryParameters<const Schemas extends OptionalTexts>(
  schemas: Schemas,
): ReadableParameters<{ readonly [Name in keyof Schemas]?: v.InferOutput<Schemas[Name]> }> {
  type Values = { readonly [Name in keyof Schemas]?: v.InferOutput<Schemas[Name]> };
  const names = Object.keys(schemas);
  const expectation: Expectation<unknown> = {
    schema: v.object(schemas),
    name: '',
    prefix: 'the parameter ',
    whole: 'the parameters must be text',
    code: 'bad_request',
  };
  const none = {} as Values;
  return {
    schemas,
    read: (queryString) => {
      if (queryString === '') return none;
      const given = new URLSearchParams(queryString);
      const values = Object.fromEntries(
        names.flatMap((name) => {
          const value = given.get(name);
          return value === null ? [] : [[name, value]];
        }),
      );
      return validate(expectation, values) as Values;
    },
  };
}
