import { sqlError, unsupported } from '../sql-error.ts';

type Fields = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * One node of the parser's JSON tree. A node type or a field that nobody asked for is refused by name, so a
 * construct that the translator doesn't know can never be dropped silently.
 */
export class SyntaxNode {
  readonly type: string;
  readonly #fields: Fields;

  constructor(type: string, fields: Fields) {
    this.type = type;
    this.#fields = fields;
  }

  /** `{"TypeName": {…fields}}`, the form of every node in a list or a choice. */
  static wrapped(value: unknown): SyntaxNode {
    const entry = isObject(value) ? Object.entries(value)[0] : undefined;
    if (entry === undefined || !isObject(entry[1])) throw unsupported('An empty syntax node');
    return new SyntaxNode(entry[0], entry[1]);
  }

  /** Undefined where the parser gives none, or -1. */
  get at(): number | undefined {
    const location = this.#fields['location'];
    return typeof location === 'number' && location >= 0 ? location : undefined;
  }

  /** Refuses every field that isn't listed, under the name given for it or its own. */
  allow(fields: readonly string[], names: Readonly<Record<string, string>> = {}): void {
    for (const field of Object.keys(this.#fields)) {
      if (field === 'location' || fields.includes(field)) continue;
      throw unsupported(names[field] ?? `${this.type}.${field}`, this.at);
    }
  }

  has(field: string): boolean {
    return this.#fields[field] !== undefined;
  }

  text(field: string): string {
    const value = this.#fields[field];
    return typeof value === 'string' ? value : '';
  }

  /** Absent means 0, as in protocol buffers. */
  number(field: string): number {
    const value = this.#fields[field];
    return typeof value === 'number' ? value : 0;
  }

  flag(field: string): boolean {
    return this.#fields[field] === true;
  }

  /** A field that holds the fields of a node directly, its type being known. */
  part(field: string, type: string): SyntaxNode | undefined {
    const value = this.#fields[field];
    return isObject(value) ? new SyntaxNode(type, value) : undefined;
  }

  child(field: string): SyntaxNode | undefined {
    return this.has(field) ? SyntaxNode.wrapped(this.#fields[field]) : undefined;
  }

  required(field: string): SyntaxNode {
    const child = this.child(field);
    if (child === undefined) throw sqlError('sql_syntax', `${this.type} has no ${field}`, this.at);
    return child;
  }

  list(field: string): readonly SyntaxNode[] {
    const value = this.#fields[field];
    return Array.isArray(value) ? value.map((item: unknown) => SyntaxNode.wrapped(item)) : [];
  }

  /** A list whose nodes may be empty. */
  rawList(field: string): readonly object[] {
    const value = this.#fields[field];
    return Array.isArray(value) ? value.filter(isObject) : [];
  }

  /** A list of names. */
  strings(field: string): readonly string[] {
    return this.list(field).map((node) => {
      if (node.type !== 'String') throw unsupported(`${node.type} in a name`, this.at);
      return node.text('sval');
    });
  }
}
