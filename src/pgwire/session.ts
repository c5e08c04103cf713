import { AppError } from '../errors.ts';
import { Cancellation } from '../lib/cancellation.ts';
import type { Logger } from '../lib/log.ts';
import { limits } from '../limits/limits.ts';
import type { Description, Explanation, QueryResult } from '../query/request.ts';
import type { SessionEffect } from '../sql/catalog-session.ts';
import type { ParameterValue } from '../sql/parameters.ts';
import { type PostgresType, postgresType, typeOids } from '../sql/postgres-types.ts';
import { text } from '../sql/types.ts';
import type { Connection } from './connection.ts';
import { binaryCopyHeader, copyLine } from './copy-output.ts';
import { errorFields } from './error-fields.ts';
import { type ClientMessage, type Format, readClientMessage } from './protocol/client-message.ts';
import type { MessageWriter } from './protocol/message-writer.ts';
import * as reply from './protocol/server-messages.ts';
import { WireError } from './protocol/wire-error.ts';
import {
  labelled,
  type OutputColumn,
  QueryRows,
  type RowSink,
  type RowSource,
  TextRows,
} from './row-source.ts';
import { SessionActivity } from './session-activity.ts';
import type { SessionSettings } from './session-settings.ts';
import {
  queryWithin,
  readSessionStatement,
  type SentQuery,
  type SessionStatement,
} from './session-statement.ts';
import { type StatementText, splitStatements } from './sql-scanner.ts';
import { Transaction } from './transaction.ts';
import { type OutputSettings, RowEncoder, RowTexts } from './values/encoders.ts';
import { parameterValue } from './values/parameter-values.ts';
import { unshownMoments } from './values/styled-times.ts';

/**
 * One session, from the sign-in to its end: PostgreSQL's protocol 3, simple and extended queries
 * (PostgreSQL's documentation, "Message Flow").
 *
 * Messages are handled one after another; the next one is looked at when the one before has had all its
 * replies. Replies are collected, and sent at Sync, at Flush, at the end of a simple query, and whenever
 * there are `pgWriteBufferBytes` of them. Before each message and each statement the session takes its turn
 * with the others (`Turns`).
 *
 *     ready ── Query ──▶ its statements ──▶ ReadyForQuery
 *       │
 *       └── Parse, Bind, Describe, Execute, Close ──▶ … ── Sync ──▶ ReadyForQuery
 *                 └── an error: what follows is skipped, up to Sync
 *
 * A prepared statement belongs to the session. A portal is a statement with its values; it belongs to the
 * transaction: it ends with the block, or at Sync outside of one. Cursors are portals, those WITH HOLD belong
 * to the session. A portal with rows left holds a query in the store, and its connection, until it is read to
 * its end, closed, or its time is over.
 *
 * Who asks is looked up for each statement: who is deleted, or loses a privilege, has lost it here.
 */
export class Session {
  readonly #parts: SessionParts;
  readonly #connection: Connection;
  readonly #settings: SessionSettings;
  readonly #transaction: Transaction;
  readonly #out: MessageWriter;
  readonly #statements = new Map<string, PreparedStatement>();
  readonly #portals = new Map<string, Portal>();
  readonly #output: OutputSettings;
  /** Of what it keeps for its client (`pgMaxHeldBytes`): statements, portals, and an incomplete message. */
  #statementBytes = 0;
  #portalBytes = 0;
  #messageBytes = 0;
  /** After an error of an extended query, up to Sync. */
  #isSkipping = false;
  /** Several statements in one simple query are one transaction. */
  #isImplicitBlock = false;
  /** Something was executed since the last Sync or end of a transaction: with what follows it is one. */
  #hasExecuted = false;
  /** The portal that runs now: it outlives CLOSE ALL, which may be its own statement. */
  #executing: Portal | undefined;
  /** Of the statement that runs now. */
  #running: Cancellation | undefined;
  #ending: WireError | undefined;
  /** As other sessions may see it. */
  readonly activity = new SessionActivity(Date.now());
  #lastActiveMs: number;

  constructor(connection: Connection, settings: SessionSettings, out: MessageWriter, parts: SessionParts) {
    this.#connection = connection;
    this.#settings = settings;
    this.#out = out;
    this.#parts = parts;
    this.#transaction = new Transaction(settings);
    this.#output = {
      timeZone: () => settings.timeZone,
      dateStyle: () => settings.dateStyle,
      intervalStyle: () => settings.intervalStyle,
    };
    this.#lastActiveMs = parts.nowMs();
  }

  /** Runs the session to its end. Never rejects. */
  async run(): Promise<void> {
    const leave = () => this.#running?.cancel();
    this.#connection.closed.addEventListener('abort', leave, { once: true });
    try {
      this.#ready();
      await this.#flush();
      while (this.#ending === undefined) {
        const frame = await this.#connection.message(limits.pgMaxMessageBytes, this.#onLongMessage);
        if (frame === undefined || this.#ending !== undefined) break;
        this.#lastActiveMs = this.#parts.nowMs();
        await this.#parts.turn();
        const goesOn = await this.#handle(readClientMessage(frame));
        this.#endMessage();
        if (!goesOn) break;
        this.#lastActiveMs = this.#parts.nowMs();
      }
      if (this.#ending !== undefined) this.#report(this.#ending, undefined);
    } catch (thrown) {
      this.#report(thrown, undefined);
    } finally {
      await this.#closePortals(() => true);
      this.#parts.giveBack(this.#statementBytes);
      this.#endMessage();
      await this.#flush();
      this.#connection.close();
    }
  }

  /** Ends the statement that runs, if one does. */
  cancel(): void {
    this.#running?.cancel(new WireError('57014', 'canceling statement due to user request'));
  }

  /** Ends the session, with this message for the client: at once if it is idle, else with its statement. */
  end(reason: WireError): void {
    this.#ending ??= reason;
    if (this.#running !== undefined) this.#running.cancel(reason);
    else this.#connection.interrupt();
  }

  get isBusy(): boolean {
    return this.#running !== undefined;
  }

  /** What a look at the session from time to time may find: it must end. */
  overdue(nowMs: number): WireError | undefined {
    if (this.#running !== undefined) return undefined;
    const idleMs = nowMs - this.#lastActiveMs;
    if (this.#transaction.isInBlock) {
      const own = this.#settings.idleInTransactionTimeoutMs;
      const most = own === 0 ? limits.pgIdleInTransactionTimeoutMs : own;
      if (idleMs > most)
        return new WireError('25P03', 'terminating connection due to idle-in-transaction timeout', {
          fatal: true,
        });
    } else {
      const own = this.#settings.idleTimeoutMs;
      if (idleMs > (own === 0 ? limits.pgIdleTimeoutMs : own))
        return new WireError('57P05', 'terminating connection due to idle-session timeout', { fatal: true });
    }
    return undefined;
  }

  /** @returns false when the client has ended the session @throws WireError that ends it */
  async #handle(message: ClientMessage): Promise<boolean> {
    if (message.kind === 'terminate') return false;
    if (message.kind === 'sync') {
      if (!this.#transaction.isInBlock) await this.#endTransaction(!this.#isSkipping);
      this.#isSkipping = false;
      this.#hasExecuted = false;
      this.#ready();
      await this.#flush();
      return true;
    }
    if (this.#isSkipping || message.kind === 'copyData') return true;
    if (message.kind === 'query') {
      await this.#simpleQuery(message.sql);
      return true;
    }
    if (message.kind === 'flush') {
      await this.#flush();
      return true;
    }
    const query = this.#queryOf(message);
    try {
      await this.#extended(message);
    } catch (thrown) {
      this.#fail(thrown, query);
      this.#isSkipping = true;
    }
    await this.#flushIfFull();
    return true;
  }

  #queryOf(message: ClientMessage): SentQuery | undefined {
    if (message.kind === 'parse') return { sql: message.sql, offset: 0 };
    const prepared =
      message.kind === 'execute'
        ? this.#portals.get(message.portal)?.statement
        : message.kind === 'bind'
          ? this.#statements.get(message.statement)
          : undefined;
    return prepared?.source && queryWithin(prepared.source, prepared.action);
  }

  async #simpleQuery(sql: string): Promise<void> {
    // As in PostgreSQL, a simple query ends what is unnamed.
    this.#dropStatement('');
    let query: SentQuery | undefined;
    let hasFailed = false;
    try {
      requireLength(sql);
      const statements = splitStatements(sql, limits.pgMaxStatementsPerQuery);
      if (statements.length > limits.pgMaxStatementsPerQuery) {
        throw new WireError(
          '54001',
          `a query of more than ${limits.pgMaxStatementsPerQuery} statements is not allowed`,
        );
      }
      if (statements.length === 0) reply.emptyQueryResponse(this.#out);
      this.#isImplicitBlock = statements.length > 1;
      for (const statement of statements) {
        if (this.#connection.closed.aborted) break;
        query = { sql: statement.text, offset: statement.offset };
        await this.#parts.turn();
        const action = readSessionStatement(statement);
        query = queryWithin(statement, action);
        await this.#runSimple(statement, action);
        await this.#flushIfFull();
      }
    } catch (thrown) {
      hasFailed = true;
      this.#fail(thrown, query);
    }
    this.#isImplicitBlock = false;
    this.#hasExecuted = false;
    if (!this.#transaction.isInBlock) await this.#endTransaction(!hasFailed);
    this.#ready();
    await this.#flush();
  }

  async #runSimple(source: StatementText, action: SessionStatement): Promise<void> {
    this.#requireUsable(action);
    await this.#closePortal('');
    await this.#run(source.text, async (signal) => {
      const rows = await this.#open(action, source.text, [], signal);
      if (rows === undefined) return;
      try {
        const formats = this.#formatsOf(action);
        reply.rowDescription(this.#out, wireColumns(rows.columns, formats));
        const count = await rows.fetch(this.#rowsOf(action), this.#sink(rows.columns, formats));
        reply.commandComplete(this.#out, tagOf(action, count));
      } finally {
        await rows.close();
      }
    });
  }

  async #extended(message: ClientMessage): Promise<void> {
    switch (message.kind) {
      case 'parse':
        await this.#parse(message);
        return;
      case 'bind':
        await this.#bind(message);
        return;
      case 'describe':
        this.#describe(message.of, message.name);
        return;
      case 'execute':
        await this.#executeExtended(message);
        return;
      case 'close':
        if (message.of === 'statement') this.#dropStatement(message.name);
        else await this.#closePortal(message.name);
        reply.closeComplete(this.#out);
        return;
      default:
        throw new WireError('0A000', 'function calls of the protocol are not supported', {
          hint: 'Use SELECT.',
        });
    }
  }

  async #parse({ name, sql, parameterTypes }: Extract<ClientMessage, { kind: 'parse' }>): Promise<void> {
    requireName(name);
    requireLength(sql);
    const [source, second] = splitStatements(sql, 1);
    if (second !== undefined)
      throw new WireError('42601', 'cannot insert multiple commands into a prepared statement');
    const action = source && readSessionStatement(source);
    if (action !== undefined) this.#requireUsable(action);
    if (parameterTypes.length > limits.maxQueryParameters) {
      throw new WireError('54023', `more than ${limits.maxQueryParameters} parameters are not allowed`);
    }
    if (this.#statements.size >= limits.pgMaxPreparedStatements) throw tooManyStatements();
    const described =
      source === undefined || action === undefined
        ? { columns: undefined, parameters: [] }
        : await this.#run(source.text, (signal) =>
            this.#describeStatement(action, source.text, parameterTypes, signal),
          );
    if (name !== '' && this.#statements.has(name))
      throw new WireError('42P05', `prepared statement "${name}" already exists`);
    this.#dropStatement(name);
    const statement: PreparedStatement = {
      // What it is has been read from its tokens.
      source: source && { ...source, tokens: [] },
      action,
      parameterTypes,
      ...described,
      bytes: statementBytes(name, sql, parameterTypes.length, described.columns?.length ?? 0),
    };
    if (this.#statementBytes + statement.bytes > limits.pgMaxPreparedBytes) throw tooManyStatements();
    this.#hold(statement.bytes);
    this.#statementBytes += statement.bytes;
    this.#statements.set(name, statement);
    reply.parseComplete(this.#out);
  }

  async #describeStatement(
    action: SessionStatement,
    sql: string,
    parameterTypes: readonly number[],
    signal: Cancellation,
  ): Promise<{
    readonly columns: readonly OutputColumn[] | undefined;
    readonly parameters: readonly PostgresType[];
  }> {
    switch (action.kind) {
      case 'query': {
        const { columns, parameters } = await this.#parts.describe(sql, parameterTypes, signal);
        return { columns: labelled(columns), parameters };
      }
      case 'show':
      case 'showAll':
      case 'explain':
        return { columns: this.#textColumns(action), parameters: [] };
      case 'fetch':
        return { columns: this.#portals.get(action.cursor)?.source?.columns, parameters: [] };
      default:
        return { columns: undefined, parameters: [] };
    }
  }

  async #bind({
    portal: name,
    statement: statementName,
    parameterFormats,
    values,
    resultFormats,
  }: Extract<ClientMessage, { kind: 'bind' }>): Promise<void> {
    requireName(name);
    const statement = this.#statement(statementName);
    const { parameters } = statement;
    if (parameterFormats.length > 1 && parameterFormats.length !== values.length) {
      throw new WireError(
        '08P01',
        `bind message has ${parameterFormats.length} parameter formats but ${values.length} parameters`,
      );
    }
    if (values.length !== parameters.length) {
      throw new WireError(
        '08P01',
        `bind message supplies ${values.length} parameters, but prepared statement "${statementName}" requires ${parameters.length}`,
      );
    }
    this.#requireUsable(statement.action);
    if (name === '') await this.#closePortal(name);
    else if (this.#portals.has(name)) throw new WireError('42P03', `portal "${name}" already exists`);
    const columns = statement.columns?.length ?? 0;
    if (resultFormats.length > 1 && resultFormats.length !== columns) {
      throw new WireError(
        '08P01',
        `bind message has ${resultFormats.length} result formats but query has ${columns} columns`,
      );
    }
    this.#requireRoom(values.reduce((sum, value) => sum + (value?.length ?? 0), 0));
    const bound = parameters.map((type, index) =>
      parameterValue(
        values[index] ?? null,
        formatAt(parameterFormats, index),
        type,
        index + 1,
        statement.parameterTypes[index],
      ),
    );
    this.#addPortal(name, newPortal(statement, bound, resultFormats));
    reply.bindComplete(this.#out);
  }

  #requireRoom(bytes: number): void {
    if (this.#portals.size >= limits.pgMaxPortals)
      throw new WireError('53400', 'this session has too many portals');
    if (this.#portalBytes + bytes > limits.pgMaxPortalBytes)
      throw new WireError('53400', 'the portals of this session have too many bytes of values');
  }

  #addPortal(name: string, portal: Portal): void {
    this.#requireRoom(portal.bytes);
    this.#hold(portal.bytes);
    this.#portalBytes += portal.bytes;
    this.#portals.set(name, portal);
  }

  /** @throws WireError */
  #hold(bytes: number): void {
    if (this.#parts.hold(bytes)) return;
    throw new WireError('53200', 'the sessions of this database hold too much memory', {
      hint: 'Close prepared statements and sessions that are not needed any more.',
    });
  }

  readonly #onLongMessage = (bytes: number): void => {
    if (!this.#parts.hold(bytes)) {
      throw new WireError('53200', 'too many long messages are under way', { fatal: true });
    }
    this.#messageBytes = bytes;
  };

  #endMessage(): void {
    if (this.#messageBytes > 0) this.#parts.giveBack(this.#messageBytes);
    this.#messageBytes = 0;
  }

  /** @returns whether there was one */
  #dropStatement(name: string): boolean {
    const bytes = this.#statements.get(name)?.bytes;
    if (bytes === undefined) return false;
    this.#statementBytes -= bytes;
    this.#parts.giveBack(bytes);
    return this.#statements.delete(name);
  }

  #describe(of: 'statement' | 'portal', name: string): void {
    if (of === 'statement') {
      const { columns, parameters, parameterTypes, action } = this.#statement(name);
      if (columns !== undefined && action !== undefined) this.#requireUsable(action);
      reply.parameterDescription(
        this.#out,
        parameters.map(({ oid }, index) => {
          const given = parameterTypes[index];
          return given === undefined || given === 0 || given === typeOids.unknown ? oid : given;
        }),
      );
      if (columns === undefined) reply.noData(this.#out);
      else reply.rowDescription(this.#out, wireColumns(columns, []));
      return;
    }
    const { statement, formats, source } = this.#portal(name);
    const columns = source?.columns ?? statement.columns;
    if (columns !== undefined && statement.action !== undefined) this.#requireUsable(statement.action);
    if (columns === undefined) reply.noData(this.#out);
    else reply.rowDescription(this.#out, wireColumns(columns, formats));
  }

  async #execute(name: string, maxRows: number): Promise<void> {
    const portal = this.#portal(name);
    const { action, source: written } = portal.statement;
    if (action === undefined || written === undefined) {
      reply.emptyQueryResponse(this.#out);
      return;
    }
    this.#requireUsable(portal.hasFailed ? undefined : action);
    if (portal.isDone) {
      if (portal.source === undefined) throw new WireError('55000', `portal "${name}" cannot be run`);
      reply.commandComplete(this.#out, tagOf(action, 0));
      return;
    }
    const work = async (signal: Cancellation): Promise<void> => {
      if (portal.source === undefined) {
        portal.cancellation = signal;
        portal.source = await this.#open(
          action,
          written.text,
          portal.values,
          signal,
          portal.statement.parameterTypes,
        );
        if (portal.source === undefined) {
          portal.isDone = true;
          return;
        }
      }
      const most = Math.min(maxRows === 0 ? Number.POSITIVE_INFINITY : maxRows, this.#rowsOf(action));
      const { source, formats } = portal;
      const count = await source.fetch(most, this.#sink(source.columns, formats));
      if (count === maxRows && count > 0 && action.kind === 'query') reply.portalSuspended(this.#out);
      else {
        portal.isDone = true;
        await source.close();
        reply.commandComplete(this.#out, tagOf(action, count));
      }
    };
    this.#executing = portal;
    try {
      await this.#run(written.text, work, portal.cancellation);
    } catch (thrown) {
      portal.isDone = true;
      portal.hasFailed = true;
      throw thrown;
    } finally {
      this.#executing = undefined;
    }
  }

  /** Of a simple query: all are text, but those of a binary cursor. */
  #formatsOf(action: SessionStatement): readonly Format[] {
    return action.kind === 'fetch' ? (this.#portals.get(action.cursor)?.formats ?? []) : [];
  }

  #rowsOf(action: SessionStatement): number {
    if (action.kind !== 'fetch') return Number.POSITIVE_INFINITY;
    return action.rows === 'all' ? Number.POSITIVE_INFINITY : action.rows;
  }

  /**
   * Begins a statement. Those without rows are done when this returns, with their CommandComplete.
   * @returns the rows of one that has some
   */
  async #open(
    action: SessionStatement,
    sql: string,
    values: readonly ParameterValue[],
    signal: Cancellation,
    parameterTypes: readonly number[] = [],
  ): Promise<RowSource | undefined> {
    switch (action.kind) {
      case 'query':
        return await this.#query(sql, values, parameterTypes, signal);
      case 'show':
        return new TextRows(this.#textColumns(action), [[this.#settings.get(action.name)]]);
      case 'showAll':
        return new TextRows(
          this.#textColumns(action),
          this.#settings.all().map(([name, value]) => [name, value, '']),
        );
      case 'explain': {
        const { sql: translated } = await this.#parts.explain(action.sql, signal);
        return new TextRows(this.#textColumns(action), [['ClickHouse runs:'], [translated]]);
      }
      case 'fetch': {
        const cursor = this.#cursor(action.cursor, signal);
        // A cursor's rows outlive the FETCH that reads some of them.
        return {
          columns: cursor.columns,
          fetch: (most, sink) => cursor.fetch(most, sink),
          close: () => Promise.resolve(),
        };
      }
      case 'move': {
        const most = action.rows === 'all' ? Number.POSITIVE_INFINITY : action.rows;
        const moved = await this.#cursor(action.cursor, signal).fetch(most, nowhere);
        reply.commandComplete(this.#out, `MOVE ${moved}`);
        return undefined;
      }
      case 'declare':
        await this.#declare(action, signal);
        reply.commandComplete(this.#out, 'DECLARE CURSOR');
        return undefined;
      case 'copy':
        await this.#copy(action, signal);
        return undefined;
      default:
        reply.commandComplete(this.#out, await this.#command(action));
        return undefined;
    }
  }

  async #query(
    sql: string,
    values: readonly ParameterValue[],
    parameterTypes: readonly number[],
    signal: Cancellation,
  ): Promise<RowSource> {
    const result = await this.#parts.query(sql, values, parameterTypes, signal);
    const rows = new QueryRows(result);
    for (const effect of result.effects ?? []) this.#apply(effect);
    const unshown = this.#unshown(rows.columns);
    if (unshown !== undefined) {
      await rows.close();
      throw unshown;
    }
    if (!signal.aborted) return rows;
    // It has cancelled or ended itself.
    await rows.close();
    throw signal.reason;
  }

  #unshown(columns: readonly OutputColumn[]): WireError | undefined {
    const { timeZone, dateStyle } = this.#settings;
    return unshownMoments(
      columns.map(({ type }) => type),
      timeZone,
      dateStyle,
    );
  }

  #apply(effect: SessionEffect): void {
    if (effect.kind === 'set') {
      const { name, value, isLocal } = effect;
      this.#set({ kind: 'set', name, value: value ?? undefined, isLocal });
      return;
    }
    const { kind, processId } = effect;
    if (kind === 'no such backend' || !this.#parts.endOther(kind, processId))
      this.#warn('01000', `PID ${processId} is not a PostgreSQL server process`);
  }

  #textColumns(statement: SessionStatement): readonly OutputColumn[] {
    const names =
      statement.kind === 'showAll'
        ? ['name', 'setting', 'description']
        : [statement.kind === 'show' ? this.#settings.shownName(statement.name) : 'QUERY PLAN'];
    return names.map((name) => ({ name, type: postgresType(text) }));
  }

  /** @param signal ends its query, if it is aborted */
  #cursor(name: string, signal?: Cancellation): RowSource {
    const portal = this.#portals.get(name);
    if (portal?.source === undefined) throw new WireError('34000', `cursor "${name}" does not exist`);
    signal?.addEventListener('abort', () => portal.cancellation?.cancel(signal.reason));
    return portal.source;
  }

  async #declare(
    { name, hold, binary, sql }: Extract<SessionStatement, { kind: 'declare' }>,
    signal: Cancellation,
  ): Promise<void> {
    if (!hold && !this.#transaction.isInBlock && !this.#isImplicitBlock)
      throw new WireError('25P01', 'DECLARE CURSOR can only be used in transaction blocks');
    if (this.#portals.has(name)) throw new WireError('42P03', `cursor "${name}" already exists`);
    this.#requireRoom(0);
    const statement: PreparedStatement = {
      source: { text: sql, offset: 0, tokens: [] },
      action: { kind: 'query' },
      parameterTypes: [],
      columns: undefined,
      parameters: [],
      bytes: 0,
    };
    const portal = newPortal(statement, [], binary ? [1] : []);
    portal.hold = hold ? 'when committed' : 'no';
    portal.cancellation = signal;
    portal.source = await this.#query(sql, [], [], signal);
    this.#addPortal(name, portal);
  }

  async #copy(
    { sql, options }: Extract<SessionStatement, { kind: 'copy' }>,
    signal: Cancellation,
  ): Promise<void> {
    const source = await this.#query(sql, [], [], signal);
    const { columns } = source;
    const out = this.#out;
    const isBinary = options.format === 'binary';
    const types = columns.map(({ type }) => type);
    const texts = new RowTexts(types, this.#output);
    const encoder = new RowEncoder(
      types.map((type) => ({ type, format: 1 })),
      this.#output,
    );
    let begun = false;
    const begin = (): void => {
      if (begun) return;
      begun = true;
      reply.copyOutResponse(out, isBinary ? 1 : 0, columns.length);
      if (options.header)
        out
          .begin('d')
          .text(
            copyLine(
              columns.map(({ name }) => name),
              options,
            ),
          )
          .end();
    };
    let hasHeader = false;
    /** The header of binary data is in the message of what follows it: clients read it there. */
    const binaryMessage = (): MessageWriter => {
      out.begin('d');
      if (!hasHeader) out.bytes(binaryCopyHeader);
      hasHeader = true;
      return out;
    };
    const sink: RowSink = {
      row: (rows) => {
        begin();
        if (isBinary) encoder.write(binaryMessage().int16(columns.length), rows);
        else out.begin('d').text(copyLine(texts.read(rows), options));
        out.end();
      },
      ready: () => this.#flushIfFull(),
    };
    let count = 0;
    try {
      count = await source.fetch(Number.POSITIVE_INFINITY, sink);
    } finally {
      await source.close();
    }
    begin();
    if (isBinary) binaryMessage().int16(-1).end();
    reply.copyDone(out);
    reply.commandComplete(out, `COPY ${count}`);
  }

  /** @returns the tag of its CommandComplete */
  async #command(action: SessionStatement): Promise<string> {
    switch (action.kind) {
      case 'begin':
        if (this.#transaction.isInBlock) this.#warn('25001', 'there is already a transaction in progress');
        else this.#transaction.begin();
        for (const [name, value] of action.settings) this.#settings.set(name, value, true);
        return action.tag;
      case 'commit':
      case 'rollback':
        return await this.#endBlock(action);
      case 'savepoint':
        this.#transaction.savepoint(action.name);
        return 'SAVEPOINT';
      case 'release':
        this.#transaction.release(action.name);
        return 'RELEASE';
      case 'rollbackTo':
        this.#transaction.rollbackTo(action.name);
        return 'ROLLBACK';
      case 'set':
        this.#set(action);
        return 'SET';
      case 'setTransaction':
        this.#setTransaction(action);
        return 'SET';
      case 'reset':
        this.#settings.reset(action.name);
        return 'RESET';
      case 'resetAll':
        this.#settings.resetAll();
        return 'RESET';
      case 'discardAll':
        await this.#discardAll();
        return 'DISCARD ALL';
      case 'discard':
        return `DISCARD ${action.what}`; // there is nothing of this kind
      case 'deallocate':
        this.#deallocate(action.name);
        return action.name === undefined ? 'DEALLOCATE ALL' : 'DEALLOCATE';
      case 'close':
        return await this.#closeCursor(action.name);
      case 'unlisten':
        return 'UNLISTEN'; // nobody listens
      default:
        throw new Error(`BUG: ${action.kind} is no command`);
    }
  }

  #set({ name, value, isLocal }: Extract<SessionStatement, { kind: 'set' }>): void {
    const isLate = isLocal && !this.#transaction.isInBlock;
    const isReset = value === undefined || (name === 'TimeZone' && value.toLowerCase() === 'local');
    if (isReset) this.#settings.reset(name);
    else this.#settings.set(name, value, isLocal);
    if (!isLate) return;
    this.#settings.endLocal();
    this.#warn('25P01', 'SET LOCAL can only be used in transaction blocks');
  }

  #setTransaction({ settings }: Extract<SessionStatement, { kind: 'setTransaction' }>): void {
    for (const [name, value] of settings) {
      const isDefault = name.startsWith('default_');
      if (isDefault) this.#settings.set(name, value, false);
      else if (this.#transaction.isInBlock) this.#settings.set(name, value, true);
      else this.#warn('25P01', 'SET TRANSACTION can only be used in transaction blocks');
    }
  }

  async #executeExtended({
    portal: name,
    maxRows,
  }: Extract<ClientMessage, { kind: 'execute' }>): Promise<void> {
    const action = this.#portals.get(name)?.statement.action;
    await this.#execute(name, maxRows);
    if (action === undefined) return;
    this.#hasExecuted = !endsTransaction.has(action.kind);
  }

  async #discardAll(): Promise<void> {
    if (this.#transaction.isInBlock || this.#isImplicitBlock || this.#hasExecuted)
      throw new WireError('25001', 'DISCARD ALL cannot run inside a transaction block');
    await this.#closePortals(() => true);
    this.#deallocate(undefined);
    this.#settings.resetAll();
  }

  #deallocate(name: string | undefined): void {
    // The unnamed one is not among those that SQL knows.
    if (name === undefined) {
      for (const each of this.#statements.keys()) if (each !== '') this.#dropStatement(each);
    } else if (!this.#dropStatement(name))
      throw new WireError('26000', `prepared statement "${name}" does not exist`);
  }

  async #closeCursor(name: string | undefined): Promise<string> {
    if (name === undefined) {
      await this.#closePortals((portal, each) => each !== '' && portal !== this.#executing);
      return 'CLOSE CURSOR ALL';
    }
    this.#cursor(name);
    await this.#closePortal(name);
    return 'CLOSE CURSOR';
  }

  async #endBlock({
    kind,
    chain,
  }: Extract<SessionStatement, { kind: 'commit' | 'rollback' }>): Promise<string> {
    const tag = kind.toUpperCase();
    if (!this.#transaction.isInBlock) {
      if (chain) throw new WireError('25P01', `${tag} AND CHAIN can only be used in transaction blocks`);
      this.#warn('25P01', 'there is no transaction in progress');
      // It ends what the messages since the last Sync are part of.
      await this.#endTransaction(kind === 'commit');
      return tag;
    }
    const isCommit = kind === 'commit' && this.#transaction.commit();
    if (kind === 'rollback') this.#transaction.rollback();
    await this.#endTransaction(isCommit);
    if (chain) this.#transaction.begin();
    return isCommit ? 'COMMIT' : 'ROLLBACK';
  }

  /** @throws WireError where a failed block lets nothing pass but its end */
  #requireUsable(action: SessionStatement | undefined): void {
    if (this.#transaction.status !== 'E') return;
    if (action !== undefined && ['commit', 'rollback', 'rollbackTo'].includes(action.kind)) return;
    throw new WireError(
      '25P02',
      'current transaction is aborted, commands ignored until end of transaction block',
    );
  }

  /** Runs the work of a statement, which may be cancelled. */
  async #run<T>(
    query: string,
    work: (signal: Cancellation) => Promise<T>,
    cancellation = new Cancellation(),
  ): Promise<T> {
    this.#parts.requireAllowed();
    if (this.#connection.closed.aborted) cancellation.cancel();
    this.#running = cancellation;
    this.activity.begin(query, Date.now());
    const timeoutMs = this.#settings.statementTimeoutMs;
    const late = () =>
      cancellation.cancel(new WireError('57014', 'canceling statement due to statement timeout'));
    const timer = timeoutMs === 0 ? undefined : setTimeout(late, timeoutMs);
    try {
      return await work(cancellation);
    } catch (thrown) {
      throw cancellation.reason instanceof WireError ? cancellation.reason : thrown;
    } finally {
      clearTimeout(timer);
      this.#running = undefined;
    }
  }

  #statement(name: string): PreparedStatement {
    const statement = this.#statements.get(name);
    if (statement !== undefined) return statement;
    const shown = name === '' ? 'unnamed prepared statement' : `prepared statement "${name}"`;
    throw new WireError('26000', `${shown} does not exist`);
  }

  #portal(name: string): Portal {
    const portal = this.#portals.get(name);
    if (portal !== undefined) return portal;
    throw new WireError('34000', `portal "${name}" does not exist`);
  }

  async #closePortal(name: string): Promise<void> {
    const portal = this.#portals.get(name);
    if (portal === undefined) return;
    this.#portals.delete(name);
    this.#portalBytes -= portal.bytes;
    this.#parts.giveBack(portal.bytes);
    await portal.source?.close();
  }

  async #closePortals(which: (portal: Portal, name: string) => boolean): Promise<void> {
    for (const [name, portal] of this.#portals) if (which(portal, name)) await this.#closePortal(name);
  }

  /** @param isCommit what was declared WITH HOLD in it stays */
  async #endTransaction(isCommit: boolean): Promise<void> {
    await this.#closePortals(({ hold }) => hold === 'no' || (hold === 'when committed' && !isCommit));
    for (const portal of this.#portals.values()) portal.hold = 'yes';
  }

  #fail(thrown: unknown, query: SentQuery | undefined): void {
    this.#transaction.fail();
    this.#report(thrown, query);
    if (thrown instanceof WireError && thrown.fatal) this.#ending ??= thrown;
  }

  /** Tells the client; nothing to a client that is gone. */
  #report(thrown: unknown, query: SentQuery | undefined): void {
    if (this.#connection.closed.aborted) return;
    if (thrown instanceof AppError) this.#parts.refused(thrown);
    reply.errorResponse(this.#out, errorFields(thrown, query, this.#parts.log));
  }

  #warn(code: string, message: string): void {
    reply.errorResponse(this.#out, { severity: 'WARNING', code, message });
  }

  #ready(): void {
    this.activity.end(this.#transaction.status, Date.now());
    reply.readyForQuery(this.#out, this.#transaction.status);
  }

  async #flush(): Promise<void> {
    await this.#connection.write(this.#out.take());
  }

  /** Others get their turn, too. */
  #flushIfFull(): Promise<void> | undefined {
    if (this.#out.size < limits.pgWriteBufferBytes) return undefined;
    return this.#flush().then(() => new Promise((resolve) => setImmediate(resolve)));
  }

  #sink(columns: readonly OutputColumn[], formats: readonly Format[]): RowSink {
    // The settings may have changed since the query began.
    const unshown = this.#unshown(columns);
    if (unshown !== undefined) throw unshown;
    const out = this.#out;
    const encoder = new RowEncoder(
      columns.map(({ type }, index) => ({ type, format: formatAt(formats, index) })),
      this.#output,
    );
    return {
      row: (rows) => {
        out.begin('D').uint16(columns.length);
        encoder.write(out, rows);
        out.end();
      },
      ready: () => this.#flushIfFull(),
    };
  }
}

/** What a session is given. */
export interface SessionParts {
  /** As who has signed in, and in the tenant of the session. @throws AppError */
  query(
    sql: string,
    values: readonly ParameterValue[],
    parameterTypes: readonly number[],
    signal: Cancellation,
  ): Promise<QueryResult>;
  describe(
    sql: string,
    parameterTypes: readonly number[],
    signal: Cancellation,
  ): Promise<Pick<Description, 'columns' | 'parameters'>>;
  explain(sql: string, signal: Cancellation): Promise<Explanation>;
  /**
   * Asked before each statement.
   * @throws WireError that ends the session where who has signed in is nobody any more
   */
  requireAllowed(): void;
  /**
   * Ends the statement or the session of a process id, which may be this one.
   * @returns false where there is none that who has signed in may see
   */
  endOther(what: 'cancel' | 'terminate', processId: number): boolean;
  /** A statement ended with this error. */
  refused(error: AppError): void;
  nowMs(): number;
  /** Resolves when the session may use the event loop. */
  turn(): Promise<void> | undefined;
  /** Memory between messages; false if there is no room for so much. */
  hold(bytes: number): boolean;
  giveBack(bytes: number): void;
  readonly log: Logger;
}

interface PreparedStatement {
  /** Undefined: it is empty. */
  readonly source: StatementText | undefined;
  readonly action: SessionStatement | undefined;
  /** As the client gave them. */
  readonly parameterTypes: readonly number[];
  /** Undefined: it gives no rows. */
  readonly columns: readonly OutputColumn[] | undefined;
  readonly parameters: readonly PostgresType[];
  /** About what it takes in memory. */
  readonly bytes: number;
}

interface Portal {
  readonly statement: PreparedStatement;
  readonly values: readonly ParameterValue[];
  /** About what it takes in memory. */
  readonly bytes: number;
  readonly formats: readonly Format[];
  /** Whether it belongs to the session, and not to the transaction. */
  hold: 'no' | 'when committed' | 'yes';
  /** Once it was executed. */
  source: RowSource | undefined;
  /** Ends its query. */
  cancellation: Cancellation | undefined;
  /** It has given all its rows, or has failed. */
  isDone: boolean;
  /** What is left of it is nothing that a failed block lets pass. */
  hasFailed: boolean;
}

function newPortal(
  statement: PreparedStatement,
  values: readonly ParameterValue[],
  formats: readonly Format[],
): Portal {
  const bytes = values.reduce(
    (sum, value) => sum + (typeof value === 'string' ? value.length : 0),
    limits.pgStatementOverheadBytes + 8 * (values.length + formats.length),
  );
  return {
    statement,
    values,
    bytes,
    formats,
    hold: 'no',
    source: undefined,
    cancellation: undefined,
    isDone: false,
    hasFailed: false,
  };
}

/** What comes behind one of these is another transaction, without a Sync between them. */
const endsTransaction: ReadonlySet<SessionStatement['kind']> = new Set(['commit', 'rollback', 'discardAll']);

const nowhere: RowSink = { row: () => undefined, ready: () => undefined };

/** None: all are text; one: it is that of all. */
const formatAt = (formats: readonly Format[], index: number): Format =>
  formats.length === 1 ? (formats[0] ?? 0) : (formats[index] ?? 0);

const wireColumns = (columns: readonly OutputColumn[], formats: readonly Format[]): reply.WireColumn[] =>
  columns.map(({ name, type: { oid, modifier } }, index) => ({
    name,
    oid,
    modifier,
    format: formatAt(formats, index),
  }));

/** Of statements with rows. */
function tagOf({ kind }: SessionStatement, rows: number): string {
  if (kind === 'fetch') return `FETCH ${rows}`;
  if (kind === 'show' || kind === 'showAll') return 'SHOW';
  return kind === 'explain' ? 'EXPLAIN' : `SELECT ${rows}`;
}

/** About what a prepared statement takes in memory. */
const statementBytes = (name: string, sql: string, parameters: number, columns: number): number =>
  limits.pgStatementOverheadBytes +
  name.length +
  sql.length +
  8 * parameters +
  limits.pgColumnBytes * columns;

const tooManyStatements = (): WireError =>
  new WireError('53400', 'this session has too many prepared statements', {
    hint: 'DEALLOCATE those that are not needed any more.',
  });

/** Before anything looks at it. @throws WireError */
function requireLength(sql: string): void {
  if (sql.length > limits.maxQueryTextBytes)
    throw new WireError('54000', `the query has more than ${limits.maxQueryTextBytes} bytes`);
}

/** @throws WireError */
function requireName(name: string): void {
  if (name.length > limits.pgMaxNameBytes)
    throw new WireError('42622', `a name of more than ${limits.pgMaxNameBytes} bytes is not allowed`);
}
