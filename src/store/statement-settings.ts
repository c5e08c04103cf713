import { limits } from '../limits.ts';

/** Settings of statements that may be longer than a server expects by default. */
export const statementSettings = { max_query_size: String(limits.maxStatementBytes) } as const;
