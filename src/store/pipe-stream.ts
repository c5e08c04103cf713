import type { ClickHouseClient } from '@clickhouse/client';
import { quoteString } from '../lib/quote.ts';
import type { NamedPipes } from './named-pipe.ts';
import { querySettings } from './statement-settings.ts';
import { endingOf, type Transport } from './transport.ts';

/**
 * Streams what the embedded engine puts out, through a named pipe: the engine writes into it on a thread of its own
 * and waits when nobody reads, so that memory stays flat, and the output is one document in any format. (Its own
 * streaming calls plan a query, and run its scalar subqueries, on the thread of the event loop; and make a document
 * of each block.)
 *
 * What it read from its tables nobody tells: its summary counts the rows of the result. The statement's end is when its promise settles. What it wrote until then is in the pipe, and is read first.
 */
export function pipeStream(pipes: NamedPipes): Transport['stream'] {
  return async function* (client, statement, { kill }) {
    const pipe = await pipes.open();
    const target = `INTO OUTFILE ${quoteString(pipe.path)} TRUNCATE`;
    const text = `${statement.query}\n${target}\n${endingOf(statement)}`;
    let outcome: Outcome | undefined;
    const running = run(client, text).then((settled) => {
      outcome = settled;
      pipe.finish();
      return settled;
    });
    try {
      for await (const chunk of pipe.source) yield chunk as Uint8Array;
      const settled = await running;
      if ('thrown' in settled) throw settled.thrown;
      return undefined;
    } finally {
      if (outcome === undefined) {
        // Its next write finds no reader; until then, and while it does not write, it must be asked to end.
        kill();
        await running;
      }
      await pipe.release(outcome !== undefined && !('thrown' in outcome));
    }
  };
}

type Outcome = { readonly ended: true } | { readonly thrown: unknown };

async function run(client: ClickHouseClient, statement: string): Promise<Outcome> {
  try {
    await client.exec({ query: statement, ...querySettings(statement) });
    return { ended: true };
  } catch (thrown) {
    return { thrown };
  }
}
