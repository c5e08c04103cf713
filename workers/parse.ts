import { parentPort } from 'node:worker_threads';
import { AppError, errorText } from '../src/errors.ts';
import type { ParseReply, ParseTask } from '../src/query/parser.ts';
import { parseQuery } from '../src/sql/parse.ts';

/** The thread that parses SQL. It has a stack of its own, and may be broken by its input (`src/query/parser.ts`). */
const port = parentPort;
if (port === null) throw new Error('BUG: workers/parse.ts runs as a worker thread only');

const reply = (message: ParseReply): void => port.postMessage(message);

port.on('message', (task: ParseTask) => {
  parseQuery(task.text).then(
    (query) => reply({ kind: 'parsed', query }),
    (thrown: unknown) => {
      if (thrown instanceof AppError) {
        const { code, message, details } = thrown;
        reply({ kind: 'refused', code, message, details });
      } else {
        reply({ kind: 'broken', message: errorText(thrown) });
      }
    },
  );
});
reply({ kind: 'ready' });
