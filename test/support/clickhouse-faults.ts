/** What goes wrong with a request to the ClickHouse server of the tests. */
export type Fault =
  /** The statement starts late, or is run in time and answered late. */
  | { readonly kind: 'delay'; readonly ms: number; readonly when: 'before' | 'after' }
  /** The statement is not run; this is the answer. */
  | { readonly kind: 'error'; readonly code: number; readonly name: string }
  /** The connection is cut: before the statement is run, after it was and before the answer, or within that. */
  | { readonly kind: 'cut'; readonly when: 'before' | 'after' | 'within' }
  /** An answer that is not ClickHouse's, as a proxy gives it. */
  | { readonly kind: 'status'; readonly status: number }
  /** The output is sent as it is made, so that an error comes behind a part of it. */
  | { readonly kind: 'stream' };

export interface FaultRule {
  readonly fault: Fault;
  /** A regular expression that the beginning of the statement matches. */
  readonly statements: string;
  readonly times: number;
}

/** The faults still to come, oldest first. */
export class Faults {
  #rules: Array<{ fault: Fault; pattern: RegExp; times: number }> = [];

  add({ fault, statements, times }: FaultRule): void {
    this.#rules.push({ fault, pattern: new RegExp(statements), times });
  }

  /** How many are still to come. */
  get left(): number {
    return this.#rules.reduce((sum, rule) => sum + rule.times, 0);
  }

  /** The fault of a statement; counts as having happened. */
  take(statement: string): Fault | undefined {
    const rule = this.#rules.find(({ pattern }) => pattern.test(statement));
    if (rule === undefined) return undefined;
    rule.times -= 1;
    if (rule.times <= 0) this.#rules = this.#rules.filter((other) => other !== rule);
    return rule.fault;
  }
}
