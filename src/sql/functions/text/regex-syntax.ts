import { limits } from '../../../limits/limits.ts';
import { checkTextLength } from '../../budget.ts';
import { sqlError } from '../../sql-error.ts';
import type { CallSite } from '../definition.ts';

/**
 * What means the same in PostgreSQL's regular expressions (ARE) and in the engine's (RE2): literals, `.`,
 * anchors, groups, alternation, quantifiers, bracket expressions and class shorthands. The rest of ARE
 * (look-around, back references, `\m \M \y`, `***`, embedded options but `(?i)`) is refused.
 */
export interface RegexToken {
  /** A class is a shorthand as `\d` or what stands in brackets. */
  readonly kind: 'character' | 'class' | 'open' | 'close' | 'or' | 'anchor' | 'quantifier';
  readonly text: string;
}

export interface RegexSyntax {
  readonly tokens: readonly RegexToken[];
  /** Groups that capture. */
  readonly groups: number;
  /** Whether it matches a text without characters. */
  readonly canBeEmpty: boolean;
}

/** A group that is being read. */
interface Group {
  /** The part that a quantifier would repeat. */
  last: Part | undefined;
  /** What stands in it so far; of the alternatives, the one that is being read. */
  size: number;
  /** How many of its parts match no empty text. */
  required: number;
  hasEmptyAlternative: boolean;
  repetitions: number;
}

interface Part {
  /** Characters and classes, repeated ones as often as they are. */
  readonly size: number;
  readonly canBeEmpty: boolean;
  /** The greatest number of times that something in it is repeated. */
  readonly repetitions: number;
}

const classLetters = 'dwsDWS';
const characterLetters = 'ntr';
const bracketLetters = 'dwsntr';
/** Of PostgreSQL; the engine knows these, too. */
const classNames: ReadonlySet<string> = new Set(
  'alnum alpha blank cntrl digit graph lower print punct space upper xdigit'.split(' '),
);

/**
 * Reads a regular expression once from its begin to its end.
 * @throws AppError `sql_bad_regex` for what PostgreSQL refuses, `sql_unsupported` for what the engine would
 *   read otherwise, `sql_too_large` for what is beyond a bound
 */
export function readRegex(pattern: string, site: CallSite): RegexSyntax {
  checkTextLength(pattern, limits.maxSqlPatternLength, 'A regular expression', site.at);
  return new RegexReader(pattern, site).read();
}

class RegexReader {
  readonly #pattern: string;
  readonly #site: CallSite;
  readonly #tokens: RegexToken[] = [];
  readonly #open: Group[] = [];
  #group = newGroup();
  #groups = 0;
  #at = 0;

  constructor(pattern: string, site: CallSite) {
    this.#pattern = pattern;
    this.#site = site;
  }

  read(): RegexSyntax {
    while (this.#at < this.#pattern.length) this.#next();
    if (this.#open.length > 0) throw this.#bad('parentheses () not balanced');
    const { canBeEmpty } = this.#closed(this.#group);
    return { tokens: this.#tokens, groups: this.#groups, canBeEmpty };
  }

  #next(): void {
    const character = String.fromCodePoint(this.#pattern.codePointAt(this.#at) ?? 0);
    if (character === '(') this.#openGroup();
    else if (character === ')') this.#closeGroup();
    else if (character === '|') this.#alternative();
    else if (character === '\\') this.#escape();
    else if (character === '[') this.#part('class', this.#bracket());
    else if ('*+?{'.includes(character)) this.#quantifier(character);
    else if ('^$'.includes(character)) this.#anchor(character);
    else if (']}'.includes(character)) throw this.#unsupported();
    else this.#part(character === '.' ? 'class' : 'character', character);
  }

  #anchor(text: string): void {
    this.#group.last = undefined;
    this.#push('anchor', text);
  }

  #push(kind: RegexToken['kind'], text: string): void {
    this.#tokens.push({ kind, text });
    this.#at += text.length;
  }

  #part(kind: 'character' | 'class', text: string): void {
    this.#add({ size: 1, canBeEmpty: false, repetitions: 1 });
    this.#push(kind, text);
  }

  #add(part: Part): void {
    const group = this.#group;
    group.last = part;
    group.size += part.size;
    if (!part.canBeEmpty) group.required += 1;
    group.repetitions = Math.max(group.repetitions, part.repetitions);
    const { maxRegexSize } = limits;
    if (group.size <= maxRegexSize) return;
    throw this.#tooLarge(
      `has more than ${maxRegexSize} characters, those that are repeated counted as often`,
    );
  }

  #openGroup(): void {
    const isPlain = this.#pattern.startsWith('(?:', this.#at);
    if (!isPlain && this.#pattern.startsWith('(?', this.#at)) {
      const isOption = /^\(\?[a-z]+\)/.test(this.#pattern.slice(this.#at, this.#at + 40));
      throw isOption || /^\(\?(?:<?[=!])/.test(this.#pattern.slice(this.#at, this.#at + 4))
        ? this.#unsupported()
        : this.#bad('quantifier operand invalid');
    }
    if (!isPlain) this.#groups += 1;
    if (this.#groups > limits.maxRegexGroups)
      throw this.#tooLarge(`has more than ${limits.maxRegexGroups} groups`);
    if (this.#open.length >= limits.maxRegexDepth)
      throw this.#tooLarge(`is nested deeper than ${limits.maxRegexDepth} levels`);
    this.#open.push(this.#group);
    this.#group = newGroup();
    this.#push('open', isPlain ? '(?:' : '(');
  }

  #closeGroup(): void {
    const outer = this.#open.pop();
    if (outer === undefined) throw this.#bad('parentheses () not balanced');
    const part = this.#closed(this.#group);
    this.#group = outer;
    this.#add(part);
    this.#push('close', ')');
  }

  #alternative(): void {
    const group = this.#group;
    group.hasEmptyAlternative ||= group.required === 0;
    group.required = 0;
    group.last = undefined;
    this.#push('or', '|');
  }

  #closed(group: Group): Part {
    const { size, repetitions, required, hasEmptyAlternative } = group;
    return { size, repetitions, canBeEmpty: required === 0 || hasEmptyAlternative };
  }

  /** A quantifier of what stands before it, greedy or not. */
  #quantifier(character: string): void {
    const group = this.#group;
    const part = group.last;
    if (part === undefined) throw this.#bad('quantifier operand invalid');
    const { text, min, times } = this.#count(character);
    const isLazy = this.#pattern[this.#at + text.length] === '?';
    const repetitions = part.repetitions * Math.max(1, times);
    if (repetitions > limits.maxRegexRepetitions) {
      throw this.#tooLarge(
        `repeats a part ${repetitions} times, repetitions within each other multiplied; at most ${limits.maxRegexRepetitions} are allowed`,
      );
    }
    // The part is put back as it is repeated.
    group.size -= part.size;
    if (!part.canBeEmpty) group.required -= 1;
    const canBeEmpty = part.canBeEmpty || min === 0;
    this.#add({ size: part.size * Math.max(1, times), canBeEmpty, repetitions });
    group.last = undefined;
    this.#push('quantifier', isLazy ? `${text}?` : text);
  }

  /** How often a quantifier repeats; without an upper bound the engine makes a loop of the last time. */
  #count(character: string): { readonly text: string; readonly min: number; readonly times: number } {
    if (character !== '{') return { text: character, min: character === '+' ? 1 : 0, times: 1 };
    bounds.lastIndex = this.#at;
    const [text, low, comma, high = ''] = bounds.exec(this.#pattern) ?? [];
    if (text === undefined) throw this.#unsupported();
    const min = Number(low);
    const max = comma === undefined || high === '' ? min : Number(high);
    if (min > greatestCount || max > greatestCount || max < min)
      throw this.#bad('invalid repetition count(s)');
    return { text, min, times: max };
  }

  /** The text of what stands behind a backslash. */
  #escaped(letters: string): string {
    const code = this.#pattern.codePointAt(this.#at + 1);
    if (code === undefined) throw this.#bad('invalid escape \\ sequence');
    const character = String.fromCodePoint(code);
    if (/^[A-Za-z0-9]$/.test(character) && !letters.includes(character)) throw this.#unsupported();
    return `\\${character}`;
  }

  #escape(): void {
    const text = this.#escaped(`${classLetters}${characterLetters}`);
    this.#part(classLetters.includes(text.slice(1)) ? 'class' : 'character', text);
  }

  /** The text of a bracket expression. */
  #bracket(): string {
    const start = this.#at;
    this.#at += this.#pattern[start + 1] === '^' ? 2 : 1;
    // The first one in it is a bracket like any other character.
    let from: number | 'class' | undefined =
      this.#pattern[this.#at] === ']' ? this.#bracketCharacter() : undefined;
    for (;;) {
      const character = this.#pattern[this.#at];
      if (character === undefined) throw this.#bad('brackets [] not balanced');
      if (character === ']') break;
      const next = this.#pattern[this.#at + 1];
      const isRange = character === '-' && from !== undefined && next !== ']' && next !== undefined;
      if (!isRange) {
        from = this.#bracketPart();
        continue;
      }
      this.#at += 1;
      const to = this.#bracketPart();
      if (from === 'class' || to === undefined || to === 'class' || (from ?? 0) > to)
        throw this.#bad('invalid character range');
      from = undefined;
    }
    const text = this.#pattern.slice(start, this.#at + 1);
    this.#at = start;
    return text;
  }

  /** The code of a character, or a class. */
  #bracketPart(): number | 'class' | undefined {
    const character = this.#pattern[this.#at];
    if (character === '\\') {
      const text = this.#escaped(bracketLetters);
      this.#at += text.length;
      const letter = text.slice(1);
      return 'dws'.includes(letter) ? 'class' : (controls[letter] ?? letter.codePointAt(0));
    }
    if (character !== '[') return this.#bracketCharacter();
    className.lastIndex = this.#at;
    const [text, name = ''] = className.exec(this.#pattern) ?? [];
    if (text === undefined) throw this.#unsupported();
    if (!classNames.has(name)) throw this.#bad('invalid character class');
    this.#at += text.length;
    return 'class';
  }

  #bracketCharacter(): number | undefined {
    const code = this.#pattern.codePointAt(this.#at);
    this.#at += code !== undefined && code > 0xffff ? 2 : 1;
    return code;
  }

  #bad(reason: string): Error {
    return sqlError('sql_bad_regex', `invalid regular expression: ${reason}`, this.#site.at);
  }

  #tooLarge(what: string): Error {
    return sqlError('sql_too_large', `A regular expression ${what}`, this.#site.at);
  }

  #unsupported(): Error {
    const shown = JSON.stringify(this.#pattern.slice(0, maxShown));
    return sqlError(
      'sql_unsupported',
      `The regular expression ${shown} uses something that is not supported: look-around, back references, \\m \\M \\y, embedded options other than (?i)`,
      this.#site.at,
    );
  }
}

const newGroup = (): Group => ({
  last: undefined,
  size: 0,
  required: 0,
  hasEmptyAlternative: false,
  repetitions: 1,
});

/** PostgreSQL's DUPMAX (src/include/regex/regex.h). */
const greatestCount = 255;
const bounds = /\{(\d{1,9})(,(\d{0,9}))?\}/y;
const className = /\[:([a-z]{1,20}):\]/y;
const controls: Readonly<Record<string, number>> = { n: 0x0a, t: 0x09, r: 0x0d };
/** Of a pattern in a message. */
const maxShown = 200;
