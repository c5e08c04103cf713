export interface EngineConfig {
  /** The complete environment of the embedded engine's process. */
  readonly engineEnvironment: Readonly<Record<string, string>>;
}

/**
 * Variables that are passed on to the engine's process: no secrets, and nothing of the
 * service's configuration.
 */
const variables = ['TZ', 'LANG', 'LC_ALL', 'LD_LIBRARY_PATH', 'DYLD_LIBRARY_PATH', 'TMPDIR'] as const;

/** Selects the variables that the engine's process gets. */
export function readEngine(environment: Readonly<Record<string, string | undefined>>): EngineConfig {
  const given = variables.flatMap((name) => {
    const value = environment[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  return { engineEnvironment: Object.fromEntries(given) };
}
