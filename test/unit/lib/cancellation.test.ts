import { describe, expect, it } from 'vitest';
import { abortSignalOf, Cancellation, type CancelSignal } from '../../../src/lib/cancellation.ts';

interface Ending {
  readonly signal: CancelSignal;
  cancel(reason?: unknown): void;
}

const cancellation = (): Ending => {
  const signal = new Cancellation();
  return { signal, cancel: (reason) => signal.cancel(reason) };
};
const platform = (): Ending => {
  const controller = new AbortController();
  return { signal: controller.signal, cancel: (reason) => controller.abort(reason) };
};
const converted = (): Ending => {
  const signal = new Cancellation();
  return { signal: abortSignalOf(signal), cancel: (reason) => signal.cancel(reason) };
};

// What is asked of the platform's own is asked of ours.
describe.each([
  ['a cancellation', cancellation],
  ['an AbortSignal', platform],
  ['an AbortSignal made of a cancellation', converted],
])('%s', (_, create) => {
  it('calls its listeners once, and keeps the reason that came first', () => {
    const { signal, cancel } = create();
    const calls: string[] = [];
    const listener = () => calls.push(`called ${signal.aborted}`);
    signal.addEventListener('abort', listener, { once: true });
    signal.addEventListener('abort', listener, { once: true });
    signal.throwIfAborted();
    expect(signal.aborted).toBe(false);
    const first = new Error('first');
    cancel(first);
    cancel(new Error('second'));
    expect(calls).toEqual(['called true']);
    expect(signal.reason).toBe(first);
    expect(() => signal.throwIfAborted()).toThrow(first);
  });

  it('calls nobody who has left or comes late', () => {
    const { signal, cancel } = create();
    const calls: string[] = [];
    const left = () => calls.push('left');
    signal.addEventListener('abort', left);
    signal.addEventListener('abort', () => calls.push('there'));
    signal.removeEventListener('abort', left);
    signal.removeEventListener('abort', () => {});
    cancel();
    signal.addEventListener('abort', () => calls.push('late'));
    cancel();
    expect(calls).toEqual(['there']);
    expect(signal.reason).toMatchObject({ name: 'AbortError' });
  });
});

it('of a cancellation that has happened makes an AbortSignal that is aborted', () => {
  const ended = new Cancellation();
  ended.cancel('over');
  expect(abortSignalOf(ended)).toMatchObject({ aborted: true, reason: 'over' });
  const { signal } = new AbortController();
  expect(abortSignalOf(signal)).toBe(signal);
});
