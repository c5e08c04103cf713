import { expect, it } from 'vitest';
import { ColumnStates } from '../../../src/query/column-states.ts';

const column = (name: string) => [name, { name, type: 'Nullable(String)' }] as const;

it('numbers columns anew when they change, and not when another dataset does', () => {
  const states = new ColumnStates();
  const columns = new Map([column('a:str')]);
  const other = new Map([column('a:str')]);
  const first = states.of({ columns }, 1);
  expect(first.names).toEqual(['a:str']);
  expect(states.of({ columns: other }, 1).number).not.toBe(first.number);
  expect(states.of({ columns }, 1)).toBe(first);
  expect(states.of({ columns }, 2)).toBe(first);
  columns.set(...column('b:str'));
  const second = states.of({ columns }, 3);
  expect(second).toMatchObject({ names: ['a:str', 'b:str'] });
  expect(second.number).not.toBe(first.number);
  // As many as before, under other names.
  columns.delete('b:str');
  columns.set(...column('c:str'));
  expect(states.of({ columns }, 4).names).toEqual(['a:str', 'c:str']);
  columns.clear();
  const numbers = [first, second, states.of({ columns }, 5)].map(({ number }) => number);
  expect(new Set(numbers).size).toBe(3);
});
