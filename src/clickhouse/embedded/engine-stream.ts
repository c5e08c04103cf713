import { quoteString } from '../../lib/quote.ts';
import { endingOf, type Transport } from '../transport.ts';
import type { EngineConnection } from './embedded-engine.ts';
import type { NamedPipes } from './named-pipe.ts';

/**
 * Streams what the embedded engine puts out, through a named pipe: the engine writes into it on a
 * thread of its own and waits when nobody reads, so that memory stays flat, and the output is one
 * document in any format. (Its own streaming calls plan a query, and run its scalar subqueries, on the
 * thread of the event loop; and make a document of each block.) Nothing of it goes through the
 * JavaScript of the engine's process.
 *
 * A small result takes a shorter way: as the value of the call, which the engine's process sends as a whole.
 *
 * How much the engine read from its tables is not known: its summary counts the rows of the result. The
 * statement has ended when its promise settles. What it wrote by then is in the pipe, and is read first.
 *
 * When nobody wants the output any more, it is still read, and dropped, until the query has ended. With a
 * full pipe or without a reader, the engine would wait in a system call, where it does not notice that it
 * should stop. This begins as soon as the query is aborted, even while the consumer is still busy with the
 * last piece.
 */
export function engineStream(pipes: NamedPipes): Transport<EngineConnection>['stream'] {
  const throughPipe = pipeStream(pipes);
  return (client, statement, control) =>
    (statement.isSmall ? directStream : throughPipe)(client, statement, control);
}

const directStream: Transport<EngineConnection>['stream'] = async function* (
  client,
  statement,
  { unlessAborted, occupy },
) {
  const running = client.run(`${statement.query}\n${endingOf(statement)}`);
  occupy(running);
  yield { parts: [await unlessAborted(running)], isLast: true };
  return undefined;
};

function pipeStream(pipes: NamedPipes): Transport<EngineConnection>['stream'] {
  return async function* (client, statement, { kill, signal, unlessAborted, occupy }) {
    const pipe = await pipes.open();
    const chunks = pipe.source.iterator({ destroyOnReturn: false });
    const target = `INTO OUTFILE ${quoteString(pipe.path)} TRUNCATE`;
    const text = `${statement.query}\n${target}\n${endingOf(statement)}`;
    let outcome: Outcome | undefined;
    const running = run(client, text).then((settled) => {
      outcome = settled;
      pipe.finish();
      return settled;
    });
    let dropping: Promise<void> | undefined;
    const drop = (): void => {
      dropping ??= dropAll(chunks);
      occupy(Promise.allSettled([running, dropping]).then(() => pipe.release(false)));
    };
    signal.addEventListener('abort', drop, { once: true });
    try {
      for (;;) {
        const { done, value } = await unlessAborted<IteratorResult<unknown>>(chunks.next());
        if (done === true) break;
        yield { parts: [value as Uint8Array], isLast: false };
      }
      const settled = await unlessAborted(running);
      if ('thrown' in settled) throw settled.thrown;
      return undefined;
    } finally {
      signal.removeEventListener('abort', drop);
      if (dropping === undefined && outcome === undefined) {
        kill();
        drop();
      } else if (dropping === undefined && outcome !== undefined) {
        await pipe.release(!('thrown' in outcome));
      }
    }
  };
}

async function dropAll(chunks: AsyncIterator<unknown>): Promise<void> {
  while ((await chunks.next()).done !== true);
}

type Outcome = { readonly ended: true } | { readonly thrown: unknown };

async function run(client: EngineConnection, statement: string): Promise<Outcome> {
  try {
    await client.run(statement);
    return { ended: true };
  } catch (thrown) {
    return { thrown };
  }
}
