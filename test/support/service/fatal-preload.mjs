// Loaded into a process before its own code (`node --import`): SIGUSR2 then does to it what
// MILLRACE_TEST_FATAL names.
import { writeSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';

const deeds = {
  stuck: () => {
    for (;;);
  },
  // As a logger that must not lose a line: it tries again for ever.
  unread: () => {
    for (;;) {
      try {
        writeSync(2, 'x'.repeat(65_536));
      } catch (error) {
        if (error.code !== 'EAGAIN') throw error;
      }
    }
  },
  thrown: () => {
    throw new Error('nobody foresaw this');
  },
  rejected: () => {
    void Promise.reject(new Error('nobody foresaw this'));
  },
  memory: () => {
    const held = [];
    for (;;) held.push(new Array(1_000_000).fill(held.length));
  },
};

if (isMainThread) process.on('SIGUSR2', deeds[process.env.MILLRACE_TEST_FATAL]);
