import { spend } from '../budget.ts';
import type { Expr } from '../ir.ts';
import { identifiersOf } from '../syntax/identifier.ts';

/** A column as `*` shows it. Asking for the expression marks it as read. */
export interface ScopeColumn {
  readonly name: string;
  readonly expr: () => Expr;
}

/**
 * The names of a relation's columns, in order. A wide dataset has them once for all the times that it is
 * named.
 */
export class ColumnNames {
  readonly list: readonly string[];
  #places: Map<string, number[]> | undefined;

  constructor(list: readonly string[]) {
    spend('steps', list.length);
    this.list = list;
  }

  /** Where the columns stand that an identifier means. */
  places(identifier: string): readonly number[] {
    spend('steps');
    this.#places ??= this.#index();
    return this.#places.get(identifier) ?? [];
  }

  #index(): Map<string, number[]> {
    spend('steps', this.list.length);
    const places = new Map<string, number[]>();
    for (const [place, name] of this.list.entries()) {
      for (const identifier of identifiersOf(name)) {
        const known = places.get(identifier);
        if (known === undefined) places.set(identifier, [place]);
        else known.push(place);
      }
    }
    return places;
  }

  /** With other names for the first of them. */
  renamed(names: readonly string[]): ColumnNames {
    return names.length === 0 ? this : new ColumnNames([...names, ...this.list.slice(names.length)]);
  }
}

/** The columns of a relation. */
export interface ScopeColumns {
  readonly names: ColumnNames;
  expr(place: number): Expr;
}

export function scopeColumns(columns: readonly ScopeColumn[]): ScopeColumns {
  return {
    names: new ColumnNames(columns.map(({ name }) => name)),
    expr: (place) => {
      const column = columns[place];
      if (column === undefined) throw new Error(`BUG: column ${place + 1} is missing`);
      return column.expr();
    },
  };
}

/** As `*` shows them, one by one: whoever takes them counts. */
export function* eachColumn({ names, expr }: ScopeColumns): Generator<ScopeColumn> {
  for (const [place, name] of names.list.entries()) {
    spend('steps');
    yield { name, expr: () => expr(place) };
  }
}
