/**
 * The built translation worker, with tasks that exceed a bound: a query of one word names the bound. It is
 * JavaScript because it is the entry of a thread.
 */
const built = new URL('../../../dist/workers/translate.js', import.meta.url);
const { start, translate: translateReal } = await import(built.href);

const greedy = {
  cpu: () => {
    for (;;);
  },
  heap: () => {
    for (const kept = []; ; ) kept.push(new Array(100_000).fill(kept.length));
  },
  broken: () => ({ kind: 'broken', reason: 'Maximum call stack size exceeded', externalBytes: 0 }),
  sleep: () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0),
  exit: () => process.exit(1),
  bug: () => {
    throw new TypeError('undefined is not what it should be');
  },
  external: () => ({ kind: 'translated', translation: { sql: '' }, externalBytes: 2 ** 40 }),
};

export { start };

export const translate = (task) => greedy[task.text]?.() ?? translateReal(task);
