import fc from 'fast-check';
import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { AppError } from '../../../src/errors.ts';
import { type Expectation, listOf, members, oneOf, text, validate } from '../../../src/lib/validation.ts';
import { caughtError } from '../../support/lib/caught.ts';

const pet = members({
  kind: oneOf(['cat', 'dog']),
  name: text(10),
  'nick-name': v.optional(v.string()),
  friends: v.optional(listOf(members({ name: v.string() }), 2)),
});
const pets: Expectation<unknown> = {
  schema: listOf(pet, 3),
  name: 'pets',
  whole: 'pets must be an array: [{"kind": "cat", "name": "Tom"}]',
  code: 'bad_request',
};
const one: Expectation<unknown> = {
  schema: pet,
  name: '',
  whole: 'a pet must be an object',
  code: 'bad_role',
};

const tom = { kind: 'cat', name: 'Tom' };
const refusal = (expectation: Expectation<unknown>, value: unknown) => {
  const { code, message, details } = caughtError(() => validate(expectation, value));
  return [code, message, details?.['pointer']];
};

describe('validate', () => {
  it('leaves a value as it is', () => {
    const value = [tom, { kind: 'dog', name: 'Rex', 'nick-name': 'R', friends: [{ name: 'Tom' }] }];
    expect(validate(pets, value)).toEqual(value);
  });

  it.each([
    [null, 'pets must be an array: [{"kind": "cat", "name": "Tom"}]', ''],
    [{}, 'pets must be an array: [{"kind": "cat", "name": "Tom"}]', ''],
    [[tom, 7], 'pets[1] must be an object with kind, name, nick-name, friends', '/1'],
    [[[]], 'pets[0] must be an object with kind, name, nick-name, friends', '/0'],
    [[{ ...tom, kind: 'cow' }], 'pets[0].kind must be one of cat, dog', '/0/kind'],
    [[{ kind: 'cat' }], 'pets[0].name is missing; it must be a string', '/0/name'],
    [[{ name: 'Tom' }], 'pets[0].kind is missing; it must be one of cat, dog', '/0/kind'],
    [[{ ...tom, name: 'x'.repeat(11) }], 'pets[0].name is longer than 10 characters', '/0/name'],
    [[{ ...tom, 'nick-name': 7 }], 'pets[0]."nick-name" must be a string', '/0/nick-name'],
    [
      [{ ...tom, nmae: 7 }],
      'pets[0]."nmae" is not known here; known are kind, name, nick-name, friends',
      '/0/nmae',
    ],
    [
      [{ ...tom, friends: [{ name: 'a', age: 3 }] }],
      'pets[0].friends[0]."age" is not known here; known are name',
      '/0/friends/0/age',
    ],
    [[{ ...tom, friends: [7, 7, 7] }], 'pets[0].friends has 3 entries; 2 are allowed', '/0/friends'],
    [[7, 7, 7, 7], 'pets has 4 entries; 3 are allowed', ''],
    [[{ ...tom, 'a/b~c': 1 }], expect.stringContaining('."a/b~c"'), '/0/a~1b~0c'],
  ])('%j: %s', (value, message, pointer) => {
    expect(refusal(pets, value)).toEqual(['bad_request', message, pointer]);
  });

  it.each(['constructor', '__proto__', 'toString', 'hasOwnProperty'])(
    'does not know the member %s',
    (name) => {
      const value: unknown = JSON.parse(`{"kind":"cat","name":"Tom","${name}":1}`);
      expect(refusal(one, value)).toEqual([
        'bad_role',
        expect.stringContaining(`"${name}" is not known`),
        `/${name}`,
      ]);
    },
  );

  it('says no more of a long name than its beginning', () => {
    const [, message] = refusal(one, { ['x'.repeat(5000)]: 1, ...tom });
    expect(String(message).length).toBeLessThan(120);
  });

  it('takes an array for no object, also where all members are optional', () => {
    const empty: Expectation<unknown> = { ...one, schema: members({ a: v.optional(v.string()) }) };
    expect(validate(empty, {})).toEqual({});
    expect(refusal(empty, [])[1]).toBe('a pet must be an object');
  });

  it('does not look at the elements of a list that is too long', () => {
    let seen = 0;
    const item = v.pipe(
      v.string(),
      v.check(() => {
        seen += 1;
        return true;
      }, 'never'),
    );
    const list: Expectation<unknown> = { ...pets, schema: listOf(item, 2) };
    expect(refusal(list, ['a', 'b', 'c'])[1]).toBe('pets has 3 entries; 2 are allowed');
    expect(seen).toBe(0);
  });

  it('answers any JSON with the same value or an AppError', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        try {
          expect(validate(pets, value)).toEqual(value);
        } catch (error) {
          expect(error).toBeInstanceOf(AppError);
        }
      }),
    );
  });
});
