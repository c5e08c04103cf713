/**
 * Says on stdout why tests are skipped, where the default reporter shows only that they are.
 * @param problem why they cannot run here; undefined when they can
 */
export function sayIfSkipped(what: string, problem: string | undefined): void {
  if (problem !== undefined) process.stdout.write(`Skipped: ${what}: ${problem}.\n`);
}
