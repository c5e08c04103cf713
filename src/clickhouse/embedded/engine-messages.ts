/** The messages between the service and its engine process, over the channel of `child_process.fork`. */

/** What the engine process is to open, and how. */
export interface EngineArguments {
  /** Belongs to the engine alone. */
  readonly directory: string;
  /** Held for as long as the process lives. */
  readonly lockFile: string;
  /** How long another process may still hold it. */
  readonly lockWaitMs: number;
  /** Settings of the engine, and defaults of all statements. */
  readonly settings: Readonly<Record<string, string | number>>;
}

export type ToEngine =
  /** The first message: take the directory. */
  | { readonly kind: 'lock'; readonly arguments: EngineArguments }
  /** The directory is in order: read the tables. */
  | { readonly kind: 'open' }
  /** Runs a statement on a connection, which is made if it is not there. */
  | { readonly kind: 'run'; readonly id: number; readonly connection: number; readonly text: string }
  | { readonly kind: 'disconnect'; readonly connection: number }
  | { readonly kind: 'ping' }
  /** Close what is open and exit. */
  | { readonly kind: 'close' };

export type FromEngine =
  /** Nobody else has the directory. */
  | { readonly kind: 'locked' }
  | { readonly kind: 'opened' }
  /** It cannot open, and exits. */
  | { readonly kind: 'failed'; readonly message: string }
  | { readonly kind: 'output'; readonly id: number; readonly bytes: Uint8Array }
  | { readonly kind: 'error'; readonly id: number; readonly message: string }
  | { readonly kind: 'pong' };

/** The engine process's end of a pipe from the service. The pipe ends when the service does. */
export const guardDescriptor = 4;
