export interface EngineConfig {
  /** Environment of the embedded engine's process, all of it. */
  readonly engineEnvironment: Readonly<Record<string, string>>;
}

/** Variables that the engine's process gets: no secrets, and nothing of the service's configuration. */
const variables = ['TZ', 'LANG', 'LC_ALL', 'LD_LIBRARY_PATH', 'DYLD_LIBRARY_PATH', 'TMPDIR'] as const;

/** What the engine's process gets to know of the environment of this one. */
export function readEngine(environment: Readonly<Record<string, string | undefined>>): EngineConfig {
  const given = variables.flatMap((name) => {
    const value = environment[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  return { engineEnvironment: Object.fromEntries(given) };
}
