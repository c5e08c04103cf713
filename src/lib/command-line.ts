/** A command line, taken apart. */
export interface Arguments {
  /** By name with its dashes. */
  readonly flags: ReadonlyMap<string, string>;
  readonly switches: ReadonlySet<string>;
  readonly words: readonly string[];
  /** Begins with a dash and is neither flag nor switch; reading ended there. */
  readonly unknown?: string;
  /** A flag whose value is missing. */
  readonly incomplete?: string;
}

/**
 * @param flagNames take a value, as `--flag=value` or as the next argument
 * @param switchNames stand alone
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
    if (!argument.startsWith('-')) words.push(argument);
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
