import { expect, it } from 'vitest';
import { LockTimeout, SharedLock } from '../../../src/lib/shared-lock.ts';

const later = () => new Promise<void>((resolve) => setImmediate(resolve));

it('runs any number shared, or one alone, in the order of asking', async () => {
  const lock = new SharedLock();
  const said: string[] = [];
  const task = (name: string) => async () => {
    said.push(`${name} begins`);
    await later();
    said.push(`${name} ends`);
  };
  await Promise.all([
    lock.shared(task('a')),
    lock.shared(task('b')),
    lock.alone(1000, task('C')),
    lock.shared(task('d')),
    lock.alone(1000, task('E')),
  ]);
  expect(said.slice(0, 6)).toEqual(['a begins', 'b begins', 'a ends', 'b ends', 'C begins', 'C ends']);
  for (const alone of ['C', 'E'])
    expect(said.indexOf(`${alone} ends`)).toBe(said.indexOf(`${alone} begins`) + 1);
  expect(said).toHaveLength(10);
});

it('goes on after a task that failed, and after a wait that was too long', async () => {
  const lock = new SharedLock();
  let end = () => {};
  const running = lock.shared(
    () =>
      new Promise<void>((resolve) => {
        end = resolve;
      }),
  );
  await expect(lock.alone(1, async () => 'too early')).rejects.toThrow(LockTimeout);
  expect(await lock.shared(async () => 'beside')).toBe('beside');
  end();
  await running;
  await expect(lock.alone(1000, () => Promise.reject(new Error('mine')))).rejects.toThrow('mine');
  await expect(lock.shared(() => Promise.reject(new Error('ours')))).rejects.toThrow('ours');
  expect(await lock.alone(1000, async () => 'alone')).toBe('alone');
});
