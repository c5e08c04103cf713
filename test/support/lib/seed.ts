/**
 * The seed of all random tests. It is the same in each run, so that a change fails for what it does, and
 * not for what chance finds in code that was there before. To search on, `MILLRACE_TEST_SEED` names another.
 */
export const testSeed = Number(process.env['MILLRACE_TEST_SEED'] ?? 1);
