import { type Caller, requireAllRows } from '../access/gate.ts';
import { decide, readableRows } from '../auth/policy.ts';
import { ownerOf } from '../documents/document.ts';
import { type DocumentStore, noDocument } from '../documents/document-store.ts';
import { AppError } from '../errors.ts';
import type { CancelSignal } from '../lib/cancellation.ts';
import type { Clock } from '../lib/clock.ts';
import { quotedName } from '../lib/credential-shape.ts';
import { limits } from '../limits/limits.ts';
import type { Principal } from '../model/identity.ts';
import type { Query } from '../query/request.ts';
import { parseDuration } from '../query/time-range.ts';
import { findValueColumn } from './alert-columns.ts';
import type { AlertBody, AlertDocument, NotificationMute } from './alert-document.ts';
import type { AlertEngine } from './alert-engine.ts';
import { type AlertPreview, type Preview, readOver } from './alert-preview.ts';
import { type AlertRequest, readAlertRequest } from './alert-request.ts';
import { type ListedAlert, listAlert, showAlert, showHistory, showInstances } from './alert-views.ts';

export interface AlertAdministrationParts {
  readonly documents: Pick<DocumentStore, 'get' | 'list' | 'revisions' | 'create' | 'update' | 'delete'>;
  readonly engine: Pick<AlertEngine, 'stateOf' | 'lastEvaluationOf'>;
  readonly preview: AlertPreview;
  readonly query: Pick<Query, 'describe'>;
  readonly clock: Clock;
}

export type ShownAlert = ReturnType<typeof showAlert>;

/** Which alerts of a list: of those with one of the tags, and with these values of members. */
export interface AlertFilter {
  readonly tags?: readonly string[];
  readonly offset: number;
  readonly limit: number;
  readonly members: ReadonlyArray<readonly [name: string, value: string]>;
}

/**
 * What people do with alerts.
 *
 * Who may write alerts on all datasets that an alert reads may change it. Who may read alerts on all of them,
 * and all of their rows, may see it: its state and its instances say something of rows that a condition
 * hides. Whoever changes what an alert does becomes the one as whom it runs.
 */
export class AlertAdministration {
  readonly #parts: AlertAdministrationParts;

  constructor(parts: AlertAdministrationParts) {
    this.#parts = parts;
  }

  /** @throws AppError `bad_alert`, `forbidden`, `sql_…`, and those of `DocumentStore.create` */
  async create(caller: Caller, asked: AlertRequest, signal: CancelSignal): Promise<Changed> {
    const body = await this.#body(caller, asked, signal);
    const made = await this.#parts.documents.create(caller, 'alert', () => {
      this.#requireTargets(caller, body.targets ?? [], []);
      return body;
    });
    return this.#changed(caller, asAlert(made));
  }

  /** Those that the caller may see: those that are triggered first, then by severity and title. */
  list({ principal, tenant }: Caller, { tags, offset, limit, members }: AlertFilter): readonly ListedAlert[] {
    const listed = this.#all(tenant)
      .filter(({ body }) => body.datasets.every((dataset) => maySee(principal, dataset)))
      .map((document) => listAlert(document, this.#state(tenant, document)))
      .filter((alert) => tags === undefined || tags.some((tag) => alert.tags?.includes(tag)))
      .filter((alert) => members.every(([name, value]) => hasMember(alert, name, value)));
    return listed.sort(inOrder).slice(offset, offset + limit);
  }

  /** The tags of the alerts that the caller may see, sorted. */
  tags({ principal, tenant }: Caller): readonly string[] {
    const seen = this.#all(tenant).filter(({ body }) =>
      body.datasets.every((dataset) => maySee(principal, dataset)),
    );
    return [...new Set(seen.flatMap(({ body }) => body.tags ?? []))].sort();
  }

  /** @throws AppError `not_found`, `forbidden` */
  get(caller: Caller, id: string): Changed {
    return this.#changed(caller, this.#find(caller, id));
  }

  /**
   * The last revisions that the caller may see, the newest first: an earlier one may read other datasets.
   * @throws AppError `not_found`, `forbidden`, `store_unavailable`
   */
  async revisions(caller: Caller, id: string): Promise<readonly AlertDocument[]> {
    this.#find(caller, id);
    const revisions = await this.#parts.documents.revisions(caller.tenant, 'alert', id);
    return revisions
      .map(asAlert)
      .filter(({ body }) => body.datasets.every((dataset) => maySee(caller.principal, dataset)));
  }

  /** An alert as it was at a revision, with the state that it has now. */
  showRevision({ tenant }: Caller, revision: AlertDocument): ShownAlert {
    return showAlert(revision, this.#state(tenant, revision));
  }

  /** @throws AppError as `create` and `DocumentStore.update` */
  async replace(
    caller: Caller,
    id: string,
    asked: AlertRequest,
    allowed: readonly number[] | undefined,
    signal: CancelSignal,
  ): Promise<Changed> {
    this.#find(caller, id);
    const next = await this.#body(caller, asked, signal);
    return this.#update(caller, id, allowed, (body) => {
      this.#requireTargets(caller, next.targets ?? [], body.targets ?? []);
      const { isDisabled, notificationState } = body;
      return { ...next, isDisabled, notificationState };
    });
  }

  /** @throws AppError `not_found`, `forbidden`, and those of `DocumentStore.delete` */
  async delete(caller: Caller, id: string, allowed: readonly number[] | undefined): Promise<void> {
    this.#find(caller, id);
    await this.#parts.documents.delete(caller, 'alert', id, allowed, (document) =>
      requireWrite(caller.principal, asAlert(document).body.datasets),
    );
  }

  /** @throws AppError `bad_alert` if it is so already */
  disable(caller: Caller, id: string, allowed: readonly number[] | undefined): Promise<Changed> {
    return this.#update(caller, id, allowed, (body) => {
      if (body.isDisabled) throw new AppError('bad_alert', 'the alert is disabled already');
      return { ...body, isDisabled: true };
    });
  }

  /** @throws AppError `bad_alert` if it is so already */
  enable(caller: Caller, id: string, allowed: readonly number[] | undefined): Promise<Changed> {
    return this.#update(caller, id, allowed, (body) => {
      if (!body.isDisabled) throw new AppError('bad_alert', 'the alert is enabled already');
      return { ...body, isDisabled: false };
    });
  }

  /**
   * Sets until when nothing is sent.
   * @param state `notify`, `indefinite`, a duration or a time
   */
  mute(caller: Caller, id: string, state: string, allowed: readonly number[] | undefined): Promise<Changed> {
    const notificationState = readMute(state, this.#nowMs());
    return this.#update(caller, id, allowed, (body) => ({ ...body, notificationState }));
  }

  /** Has the alert evaluated soon. */
  async evaluate(caller: Caller, id: string): Promise<Changed> {
    const before = this.#find(caller, id);
    await this.#update(caller, id, undefined, (body) => {
      if (body.isDisabled) throw new AppError('bad_alert', 'the alert is disabled; enable it first');
      return { ...body, askedAtMs: this.#nowMs() };
    });
    return this.#changed(caller, before);
  }

  /** @throws AppError `not_found`, `forbidden` */
  instances(caller: Caller, id: string) {
    const { body } = this.#find(caller, id);
    const key = { tenant: caller.tenant, id };
    const { engine } = this.#parts;
    return showInstances(body, engine.stateOf(key), engine.lastEvaluationOf(key), this.#nowMs());
  }

  /** @throws AppError `not_found`, `forbidden` */
  history(caller: Caller, id: string) {
    this.#find(caller, id);
    return showHistory(this.#parts.engine.stateOf({ tenant: caller.tenant, id }));
  }

  /** Evaluates an alert of which nothing is kept. @throws AppError as `create`, and those of its query */
  async test(
    caller: Caller,
    asked: AlertRequest,
    over: string | undefined,
    signal: CancelSignal,
  ): Promise<Preview> {
    const overMs = readOver(over);
    const body = await this.#body(caller, asked, signal);
    this.#requireTargets(caller, body.targets ?? [], []);
    return this.#parts.preview.preview(caller, body, overMs, signal);
  }

  async #update(
    caller: Caller,
    id: string,
    allowed: readonly number[] | undefined,
    change: (body: AlertBody) => AlertBody,
  ): Promise<Changed> {
    this.#find(caller, id);
    const changed = await this.#parts.documents.update(
      caller,
      'alert',
      id,
      (document) => {
        const { body } = asAlert(document);
        requireWrite(caller.principal, body.datasets);
        return change(body);
      },
      allowed,
    );
    return this.#changed(caller, asAlert(changed));
  }

  /** What is kept of a request. The query is translated as the caller. */
  async #body({ principal, tenant }: Caller, asked: AlertRequest, signal: CancelSignal): Promise<AlertBody> {
    const request = readAlertRequest(asked);
    const { columns, aggregateColumns, datasets, parameters } = await this.#parts.query.describe({
      principal,
      tenant,
      sql: request.query,
      startTime: '1m',
      endTime: 'now',
      signal,
    });
    if (parameters.length > 0)
      throw new AppError('bad_alert', 'the query of an alert cannot have parameters');
    if (datasets.length === 0) {
      throw new AppError('bad_alert', 'Alert should include only one dataset. Found: []');
    }
    requireWrite(principal, datasets);
    for (const dataset of datasets) requireAllRows(principal, dataset);
    const hasThreshold = request.thresholdConfig !== null && request.thresholdConfig !== undefined;
    const value = hasThreshold ? { valueColumn: findValueColumn(columns, aggregateColumns) } : {};
    return {
      ...request,
      ...value,
      datasets,
      runsAs: ownerOf(principal),
      isDisabled: false,
      notificationState: 'notify',
    };
  }

  /** @param known targets that may have been deleted since they were checked */
  #requireTargets({ tenant }: Caller, ids: readonly string[], known: readonly string[]): void {
    const missing = ids.find(
      (id) => !known.includes(id) && this.#parts.documents.get(tenant, 'target', id) === undefined,
    );
    if (missing === undefined) return;
    throw new AppError('bad_alert', `Invalid Target ID- ${missing.slice(0, maxShownIdLength)}`);
  }

  #find({ principal, tenant }: Caller, id: string): AlertDocument {
    const found = this.#parts.documents.get(tenant, 'alert', id);
    if (found === undefined) throw noDocument('alert');
    const document = asAlert(found);
    const refused = document.body.datasets.find((dataset) => !maySee(principal, dataset));
    if (refused === undefined) return document;
    const reason = `this needs a privilege for alert.read on all rows of dataset ${quotedName(refused)}`;
    throw new AppError('forbidden', reason);
  }

  #all(tenant: string): readonly AlertDocument[] {
    return this.#parts.documents.list(tenant, 'alert').map(asAlert);
  }

  #state(tenant: string, { id }: AlertDocument) {
    return this.#parts.engine.stateOf({ tenant, id });
  }

  #changed({ tenant }: Caller, document: AlertDocument): Changed {
    const { revision, body } = document;
    const alert = showAlert(document, this.#state(tenant, document));
    return { revision, title: body.title, alert };
  }

  #nowMs(): number {
    return Math.floor(this.#parts.clock.nowMicros() / 1000);
  }
}

export interface Changed {
  readonly revision: number;
  readonly title: string;
  readonly alert: ShownAlert;
}

/** Documents of the kind `alert` are written here alone. */
const asAlert = (document: object): AlertDocument => document as AlertDocument;

const maySee = (principal: Principal, dataset: string): boolean =>
  decide(principal, 'alert.read', dataset) && readableRows(principal, dataset) === 'all';

function requireWrite(principal: Principal, datasets: readonly string[]): void {
  const refused = datasets.find((dataset) => !decide(principal, 'alert.write', dataset));
  if (refused === undefined) return;
  throw new AppError('forbidden', `this needs a privilege for alert.write on dataset ${quotedName(refused)}`);
}

/** @throws AppError `bad_alert` */
function readMute(state: string, nowMs: number): NotificationMute {
  const text = state.trim();
  if (text === 'notify') return text;
  if (text === 'indefinite') return { mute: text };
  const short = text.slice(0, maxMuteLength);
  const micros = parseDuration(short.toLowerCase());
  const untilMs = micros === undefined ? Date.parse(rfc3339.test(short) ? short : '') : nowMs + micros / 1000;
  if (untilMs > nowMs && untilMs < latestMs) return { mute: new Date(untilMs).toISOString() };
  throw new AppError(
    'bad_alert',
    'state must be "notify", "indefinite", a duration such as "2h", or a time to come in RFC 3339',
  );
}

const rfc3339 = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?(?:Z|[+-]\d{2}:\d{2})$/;
const maxMuteLength = 60;
/** The end of the year 9999. */
const latestMs = 253_402_300_799_000;
const maxShownIdLength = 40;

const severities = ['Critical', 'High', 'Medium', 'Low'];
const states = ['triggered', 'not-triggered', 'disabled'];

function inOrder(a: ListedAlert, b: ListedAlert): number {
  const byState = states.indexOf(a.state) - states.indexOf(b.state);
  if (byState !== 0) return byState;
  const bySeverity = severities.indexOf(a.severity) - severities.indexOf(b.severity);
  if (bySeverity !== 0) return bySeverity;
  return a.title < b.title ? -1 : a.title > b.title ? 1 : a.id < b.id ? -1 : 1;
}

function hasMember(alert: ListedAlert, name: string, value: string): boolean {
  const member = Object.entries(alert).find(([key]) => key === name)?.[1];
  if (Array.isArray(member)) return member.includes(value);
  return typeof member === 'string' ? member === value : JSON.stringify(member) === value;
}

/** Reads the parameters of a list. @throws AppError `bad_request` */
export function readAlertFilter(queryString: string): AlertFilter {
  const given = new URLSearchParams(queryString);
  const whole = (name: string, min: number, max: number, otherwise: number): number => {
    const text = given.get(name);
    if (text === null) return otherwise;
    const number = /^\d{1,9}$/.test(text) ? Number(text) : -1;
    if (number >= min && number <= max) return number;
    throw new AppError('bad_request', `the parameter ${name} must be a number from ${min} to ${max}`);
  };
  const tags = given.get('tags');
  if (tags?.trim() === '') throw new AppError('bad_request', 'the parameter tags must not be empty');
  const members = [...given].filter(([name]) => !['tags', 'offset', 'limit'].includes(name));
  return {
    ...(tags === null ? {} : { tags: tags.split(',').map((tag) => tag.trim()) }),
    offset: whole('offset', 0, 1_000_000, 0),
    limit: whole('limit', 1, limits.maxListedAlerts, limits.defaultListedAlerts),
    members: members.slice(0, maxMemberFilters),
  };
}

const maxMemberFilters = 20;
