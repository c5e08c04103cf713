import type { ClickHouseClient } from '@clickhouse/client';
import { quoteString } from '../lib/quote.ts';
import { limits } from '../limits.ts';
import type { NamedPipes } from './named-pipe.ts';
import { statementSettings } from './statement-settings.ts';
import type { Transport } from './transport.ts';

/**
 * Streams what the embedded engine puts out, through a named pipe: the engine writes into it on a thread of its own
 * and waits when nobody reads, so that memory stays flat, and the output is one document in any format. (Its own
 * streaming calls plan a query, and run its scalar subqueries, on the thread of the event loop; and make a document
 * of each block.)
 *
 * What it read from its tables nobody tells: its summary counts the rows of the result. The statement's end is when its promise settles. What it wrote until then is in the pipe, and is read first.
 */
export function pipeStream(pipes: NamedPipes): Transport['stream'] {
  return async function* (client, { query, ending }, { kill }) {
    const pipe = await pipes.open();
    const statement = `${query}\nINTO OUTFILE ${quoteString(pipe.path)} TRUNCATE\n${ending}`;
    let outcome: Outcome | undefined;
    const running = run(client, statement).then((settled) => {
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
    // Settings are a statement in front of this one, so only those get any that need them.
    const isLong = Buffer.byteLength(statement) > limits.maxStoreSqlBytes;
    await client.exec({ query: statement, ...(isLong ? { clickhouse_settings: statementSettings } : {}) });
    return { ended: true };
  } catch (thrown) {
    return { thrown };
  }
}
