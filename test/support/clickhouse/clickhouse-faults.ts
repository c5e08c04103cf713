/** A fault in a request to the test server. */
export type Fault =
  /** The statement starts late, or its answer comes late. */
  | { readonly kind: 'delay'; readonly ms: number; readonly when: 'before' | 'after' }
  /** The statement is not run; this error is the answer. */
  | { readonly kind: 'error'; readonly code: number; readonly name: string }
  /**
   * The connection is cut before the statement runs, after it ran but before the answer, or within the
   * answer.
   */
  | { readonly kind: 'cut'; readonly when: 'before' | 'after' | 'within' }
  /** An answer that is not from ClickHouse, but for instance from a proxy. */
  | { readonly kind: 'status'; readonly status: number }
  /** The output is sent as it is produced, so that an error can follow a part of it. */
  | { readonly kind: 'stream' };

export interface FaultRule {
  readonly fault: Fault;
  /** A regular expression for the start of the statement. */
  readonly statements: string;
  readonly times: number;
}

/** The pending faults, oldest first. */
export class Faults {
  #rules: Array<{ fault: Fault; pattern: RegExp; times: number }> = [];

  add({ fault, statements, times }: FaultRule): void {
    this.#rules.push({ fault, pattern: new RegExp(statements), times });
  }

  /** The number of pending faults. */
  get left(): number {
    return this.#rules.reduce((sum, rule) => sum + rule.times, 0);
  }

  /** Removes and returns the fault for a statement. */
  take(statement: string): Fault | undefined {
    const rule = this.#rules.find(({ pattern }) => pattern.test(statement));
    if (rule === undefined) return undefined;
    rule.times -= 1;
    if (rule.times <= 0) this.#rules = this.#rules.filter((other) => other !== rule);
    return rule.fault;
  }
}
