import { parentPort } from 'node:worker_threads';
import { type ParseReply, type ParseTask, replyTo } from '../src/sql/parse-task.ts';

/**
 * The thread that parses SQL. It has a large stack of its own, and its input may break it; `src/query/parser.ts`
 * starts it, asks one question at a time, and replaces it.
 */
const port = parentPort;
if (port === null) throw new Error('BUG: workers/parse.ts runs as a worker thread only');

const reply = (message: ParseReply): void => port.postMessage(message);

port.on('message', (task: ParseTask) => void replyTo(task).then(reply));
reply({ kind: 'ready' });
