/** The parsed command line. */
export interface Arguments {
  /** By name, including the dashes. */
  readonly flags: ReadonlyMap<string, string>;
  readonly switches: ReadonlySet<string>;
  readonly words: readonly string[];
  /** Starts with a dash and is neither a flag nor a switch. Parsing stopped there. */
  readonly unknown?: string;
  /** A flag without its value. */
  readonly incomplete?: string;
}

/**
 * A single dash is a word, and all is behind two.
 * @param flagNames flags with a value, as `--flag=value` or in the next argument
 * @param switchNames flags without a value
 */
export function splitCommandLine(
  args: readonly string[],
  flagNames: ReadonlySet<string>,
  switchNames: ReadonlySet<string>,
): Arguments {
  const flags = new Map<string, string>();
  const switches = new Set<string>();
  const words: string[] = [];
  const rest = args.values();
  for (const argument of rest) {
    const equals = argument.indexOf('=');
    const name = equals < 0 ? argument : argument.slice(0, equals);
    if (!argument.startsWith('-') || argument === '-') words.push(argument);
    else if (argument === '--') words.push(...rest);
    else if (switchNames.has(argument)) switches.add(argument);
    else if (!flagNames.has(name)) return { flags, switches, words, unknown: name };
    else if (equals >= 0) flags.set(name, argument.slice(equals + 1));
    else {
      const next = rest.next();
      if (next.done === true) return { flags, switches, words, incomplete: name };
      flags.set(name, next.value);
    }
  }
  return { flags, switches, words };
}
