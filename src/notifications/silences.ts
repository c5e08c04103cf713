import * as v from 'valibot';
import type { Caller } from '../access/gate.ts';
import type { Owner, StoredDocument } from '../documents/document.ts';
import { type DocumentStore, noDocument } from '../documents/document-store.ts';
import { requireOwner } from '../documents/ownership.ts';
import { AppError } from '../errors.ts';
import type { Clock, Timers } from '../lib/clock.ts';
import { type Expectation, text } from '../lib/validation.ts';
import { limits } from '../limits/limits.ts';
import { type AlertSummary, type Notifiable, notificationLabels } from './notification.ts';
import type { NotificationState } from './notification-state.ts';
import { CompiledMatchers, type Labels, matchersSchema, stepsOf } from './silence-matchers.ts';

const time = v.pipe(v.string(), v.isoTimestamp('must be a time, such as 2026-01-31T12:00:00Z'));

/** A silence in a request, as Alertmanager has it. */
export const silenceSchema = v.pipe(
  v.object({
    id: v.optional(v.pipe(v.string(), v.description('Of a silence that is replaced.'))),
    matchers: matchersSchema,
    startsAt: v.optional(time),
    endsAt: time,
    comment: v.optional(text(limits.maxSilenceCommentLength)),
  }),
  v.title('Silence'),
);
export type SilenceRequest = v.InferOutput<typeof silenceSchema>;
export const silenceExpectation: Expectation<SilenceRequest> = {
  schema: silenceSchema,
  name: '',
  whole:
    'a silence must be an object: {"matchers": [{"name", "value", "isRegex", "isEqual"}], "startsAt", "endsAt", "comment"}',
  code: 'bad_silence',
};

/** What is stored of a silence. */
type SilenceBody = Readonly<{
  matchers: SilenceRequest['matchers'];
  startsAt: string;
  endsAt: string;
  comment: string;
}>;

/** A silence in a reply, as Alertmanager has it. */
export interface Silence extends SilenceBody {
  readonly id: string;
  readonly status: { readonly state: 'pending' | 'active' | 'expired' };
  readonly createdBy: string;
  readonly updatedAt: string;
}

/** Whether somebody may silence an alert now: who may change it. */
export type MaySilence = (owner: Owner) => boolean;

/**
 * Silences: for a time, instances whose labels match are not told. Each is a document of its tenant.
 *
 * A silence holds for the alerts that its owner may change, which is asked each time: nobody silences what
 * they have no privilege on. Ended ones are listed for some days and then removed, when somebody makes
 * another one.
 */
export class Silences {
  readonly #documents: DocumentStore;
  readonly #clock: Clock & Pick<Timers, 'turn'>;
  /** By document, which never changes. */
  readonly #compiled = new WeakMap<StoredDocument, CompiledMatchers>();

  constructor(documents: DocumentStore, clock: Clock & Pick<Timers, 'turn'>) {
    this.#documents = documents;
    this.#clock = clock;
  }

  /** All, those that end last first. */
  list(tenant: string): readonly Silence[] {
    return this.#stored(tenant)
      .map((document) => this.#show(document))
      .toSorted((one, other) => (one.endsAt < other.endsAt ? 1 : -1));
  }

  /** @throws AppError `not_found` */
  get(tenant: string, id: string): Silence {
    const found = this.#documents.get(tenant, 'silence', id);
    if (found === undefined) throw noDocument('silence');
    return this.#show(found as StoredDocument<SilenceBody>);
  }

  /**
   * Makes a silence, or replaces the one that the request names.
   * @throws AppError `bad_silence`, `not_found`, `forbidden`, `too_many_documents`, as `DocumentStore`
   */
  async put(caller: Caller, request: SilenceRequest): Promise<Silence> {
    const body = this.#bodyOf(request);
    // Alertmanager's own client sends an empty id with a new silence.
    const id = request.id === '' ? undefined : request.id;
    if (id === undefined) await this.#removeOld(caller);
    const document =
      id === undefined
        ? await this.#documents.create(caller, 'silence', body)
        : await this.#documents.update(caller, 'silence', id, (current) => {
            requireOwner(caller, 'silence', current);
            return body;
          });
    return this.#show(document as StoredDocument<SilenceBody>);
  }

  /** @throws AppError `not_found`, `forbidden`, as `DocumentStore` */
  async delete(caller: Caller, id: string): Promise<void> {
    await this.#documents.delete(caller, 'silence', id, undefined, (document) =>
      requireOwner(caller, 'silence', document),
    );
  }

  /**
   * Which instances of an alert are silenced now. All matching happens here, in slices, so that many silences
   * and instances do not hold up the event loop; the function that it returns looks up.
   * @param labelSets from `labelSetsOf`; other labels are matched when they are asked for
   */
  async silencer(
    tenant: string,
    alert: AlertSummary,
    labelSets: readonly Labels[],
    maySilence: MaySilence,
  ): Promise<(labels: Labels) => boolean> {
    const nowMs = this.#nowMs();
    const common = notificationLabels(alert, {});
    const matchers: CompiledMatchers[] = [];
    let steps = 0;
    const takeTurns = async (more: number): Promise<void> => {
      steps += more;
      if (steps <= limits.silenceStepsPerSlice) return;
      steps = more;
      await this.#clock.turn();
    };
    for (const document of this.#stored(tenant)) {
      if (stateOf(document.body, nowMs) !== 'active') continue;
      const compiled = this.#compile(document);
      await takeTurns(stepsOf(compiled, common));
      if (compiled.mayMatch(common) && maySilence(document.owner)) matchers.push(compiled);
    }
    if (matchers.length === 0) return () => false;
    const known = new Map<string, boolean>();
    for (const labels of labelSets) {
      let isSilenced = false;
      for (const each of matchers) {
        await takeTurns(stepsOf(each, labels));
        isSilenced = each.matches(labels);
        if (isSilenced) break;
      }
      known.set(JSON.stringify(labels), isSilenced);
    }
    return (labels) => known.get(JSON.stringify(labels)) ?? matchers.some((each) => each.matches(labels));
  }

  /** When a silence of the tenant begins or ends next; undefined if none does. */
  nextChangeMs(tenant: string): number | undefined {
    const nowMs = this.#nowMs();
    const times = this.#stored(tenant)
      .flatMap(({ body }) => [Date.parse(body.startsAt), Date.parse(body.endsAt)])
      .filter((ms) => ms > nowMs);
    return times.length === 0 ? undefined : times.reduce((one, other) => Math.min(one, other));
  }

  #stored(tenant: string): ReadonlyArray<StoredDocument<SilenceBody>> {
    return this.#documents.list(tenant, 'silence') as ReadonlyArray<StoredDocument<SilenceBody>>;
  }

  #compile(document: StoredDocument<SilenceBody>): CompiledMatchers {
    const known = this.#compiled.get(document);
    if (known !== undefined) return known;
    const compiled = new CompiledMatchers(document.body.matchers);
    this.#compiled.set(document, compiled);
    return compiled;
  }

  #bodyOf({ matchers, startsAt, endsAt, comment = '' }: SilenceRequest): SilenceBody {
    const compiled = new CompiledMatchers(matchers);
    if (compiled.matchesAnything) {
      const reason = 'at least one matcher must not match an empty value, or everything would be silenced';
      throw new AppError('bad_silence', reason);
    }
    const nowMs = this.#nowMs();
    const startMs = startsAt === undefined ? nowMs : Date.parse(startsAt);
    const endMs = Date.parse(endsAt);
    if (!(endMs > startMs)) throw new AppError('bad_silence', 'endsAt must be after startsAt');
    if (endMs <= nowMs) throw new AppError('bad_silence', 'endsAt must be in the future');
    return { matchers, startsAt: isoOf(startMs), endsAt: isoOf(endMs), comment };
  }

  /** Removes some silences that ended long ago. One that another node removes first is gone as well. */
  async #removeOld(caller: Caller): Promise<void> {
    const olderMs = this.#nowMs() - limits.endedSilenceKeptMs;
    const old = this.#stored(caller.tenant)
      .filter(({ body }) => Date.parse(body.endsAt) < olderMs)
      .slice(0, limits.maxSilencesRemovedAtOnce);
    for (const { id } of old) {
      try {
        await this.#documents.delete(caller, 'silence', id);
      } catch (error) {
        if (!(error instanceof AppError && error.code === 'not_found')) throw error;
      }
    }
  }

  #show({ id, owner, modified, body }: StoredDocument<SilenceBody>): Silence {
    const { matchers, startsAt, endsAt, comment } = body;
    return {
      id,
      status: { state: stateOf(body, this.#nowMs()) },
      matchers: matchers.map((matcher) => ({ ...matcher, isEqual: matcher.isEqual ?? true })),
      startsAt,
      endsAt,
      createdBy: owner.name,
      comment,
      updatedAt: modified,
    };
  }

  #nowMs(): number {
    return this.#clock.nowMicros() / 1000;
  }
}

/** The labels of all instances that a step of notifications can ask about. */
export const labelSetsOf = (
  alert: AlertSummary,
  notifiables: readonly Notifiable[],
  state: NotificationState,
): readonly Labels[] => [
  ...notifiables.map(({ labels }) => notificationLabels(alert, labels)),
  ...state.ended.map(({ labels }) => labels),
];

const isoOf = (ms: number): string => new Date(ms).toISOString();

function stateOf({ startsAt, endsAt }: SilenceBody, nowMs: number): Silence['status']['state'] {
  if (Date.parse(endsAt) <= nowMs) return 'expired';
  return Date.parse(startsAt) > nowMs ? 'pending' : 'active';
}
