import type { Caller } from '../access/gate.ts';
import type { SecretBox } from '../auth/secret-box.ts';
import type { StoredDocument } from '../documents/document.ts';
import { type DocumentStore, noDocument } from '../documents/document-store.ts';
import { AppError } from '../errors.ts';
import type { Clock } from '../lib/clock.ts';
import { ulid } from '../lib/ulid.ts';
import type { AddressGuard } from './address-guard.ts';
import { type EmailPolicy, requireMailAllowed } from './email-policy.ts';
import type { TargetType } from './notification.ts';
import {
  isServiceUrl,
  maskedTarget,
  readUrl,
  type Target,
  type TargetRequestBody,
  type TargetSecrets,
  type TargetSettings,
  targetOf,
} from './target-body.ts';

/** What is stored of a target. The secrets are one text, encrypted for this tenant and target. */
type TargetBody = Readonly<{ settings: TargetSettings; sealed: string }>;

/** A target as replies show it, with its revision. */
export interface ShownTarget {
  readonly revision: number;
  readonly target: Readonly<Record<string, unknown>>;
  /** Why nothing can be sent there at present; undefined if nothing is known against it. */
  readonly problem: string | undefined;
}

export interface TargetsOptions {
  readonly documents: DocumentStore;
  readonly box: SecretBox;
  readonly guard: AddressGuard;
  readonly email: EmailPolicy;
  readonly clock: Clock;
}

/**
 * Targets: where notifications go. Each is a document of its tenant. Its secrets (URLs, values of headers,
 * passwords, keys) are encrypted as API keys are, and no reply shows them.
 */
export class Targets {
  readonly #options: TargetsOptions;

  constructor(options: TargetsOptions) {
    this.#options = options;
  }

  /** All targets, by name. */
  list(tenant: string): readonly ShownTarget[] {
    const stored = this.#options.documents.list(tenant, 'target') as ReadonlyArray<
      StoredDocument<TargetBody>
    >;
    return stored
      .map((document) => ({ name: document.body.settings.name, shown: this.#show(tenant, document) }))
      .toSorted((one, other) => (one.name < other.name ? -1 : 1))
      .map(({ shown }) => shown);
  }

  /** @throws AppError `not_found` */
  get(tenant: string, id: string): ShownTarget {
    return this.#show(tenant, this.#stored(tenant, id));
  }

  /** The type of a target; undefined if there is none of this id. */
  typeOf(tenant: string, id: string): TargetType | undefined {
    return this.#find(tenant, id)?.body.settings.type;
  }

  /**
   * A target with its secrets.
   * @throws AppError `not_found`, `secret_changed`
   */
  open(tenant: string, id: string): Target {
    return this.#open(tenant, this.#stored(tenant, id));
  }

  /**
   * Makes a target, or replaces the one whose `id` the request has.
   * @throws AppError `bad_target`, `target_refused`, `not_found`, as `DocumentStore`
   */
  async create(caller: Caller, request: TargetRequestBody): Promise<ShownTarget> {
    if (request.id !== undefined) return this.replace(caller, request.id, request);
    const target = targetOf(request);
    await this.#check(target);
    const { documents, clock } = this.#options;
    const id = ulid(Math.floor(clock.nowMicros() / 1000));
    const document = await documents.create(caller, 'target', this.#seal(caller.tenant, id, target), id);
    return this.#show(caller.tenant, document as StoredDocument<TargetBody>);
  }

  /**
   * Replaces a target. Secrets that the request leaves out stay.
   * @param allowed the revisions that may be replaced; undefined: any
   * @throws AppError `bad_target`, `target_refused`, `not_found`, `revision_changed`, as `DocumentStore`
   */
  async replace(
    caller: Caller,
    id: string,
    request: TargetRequestBody,
    allowed?: readonly number[],
  ): Promise<ShownTarget> {
    const { tenant } = caller;
    await this.#check(targetOf(request, this.open(tenant, id)));
    const document = await this.#options.documents.update(
      caller,
      'target',
      id,
      (current) => {
        const target = targetOf(request, this.#open(tenant, current as StoredDocument<TargetBody>));
        return this.#seal(tenant, id, target);
      },
      allowed,
    );
    return this.#show(tenant, document as StoredDocument<TargetBody>);
  }

  /**
   * @returns what was deleted
   * @throws AppError `not_found`, `target_in_use`, `revision_changed`, as `DocumentStore`
   */
  async delete(caller: Caller, id: string, allowed?: readonly number[]): Promise<ShownTarget> {
    const { documents } = this.#options;
    const document = await documents.delete(caller, 'target', id, allowed, () => {
      const [user] = documents.list(caller.tenant, 'alert').filter(({ body }) => usesTarget(body, id));
      if (user === undefined) return;
      throw new AppError('target_in_use', `the alert ${user.id} uses this target; remove it there first`);
    });
    return this.#show(caller.tenant, document as StoredDocument<TargetBody>);
  }

  /**
   * Whether a target may be one, as far as it is known now. A name that is not resolved may be later.
   * @throws AppError `target_refused`
   */
  async #check({ settings, secrets }: Target): Promise<void> {
    const { email } = this.#options;
    if (settings.type === 'email') requireMailAllowed(settings.recipients, email);
    for (const endpoint of secrets.endpoints)
      await requireReachable(this.#options.guard, settings.type, endpoint);
  }

  #find(tenant: string, id: string): StoredDocument<TargetBody> | undefined {
    return this.#options.documents.get(tenant, 'target', id) as StoredDocument<TargetBody> | undefined;
  }

  #stored(tenant: string, id: string): StoredDocument<TargetBody> {
    const found = this.#find(tenant, id);
    if (found === undefined) throw noDocument('target');
    return found;
  }

  #seal(tenant: string, id: string, { settings, secrets }: Target): TargetBody {
    return { settings, sealed: this.#options.box.seal(JSON.stringify(secrets), contextOf(tenant, id)) };
  }

  #open(tenant: string, { id, body }: StoredDocument<TargetBody>): Target {
    const secrets = JSON.parse(this.#options.box.open(body.sealed, contextOf(tenant, id))) as TargetSecrets;
    return { settings: body.settings, secrets };
  }

  #show(tenant: string, document: StoredDocument<TargetBody>): ShownTarget {
    const { id, revision, body } = document;
    try {
      const { secrets, settings } = this.#open(tenant, document);
      return { revision, target: maskedTarget(id, { settings, secrets }), problem: undefined };
    } catch (error) {
      if (!(error instanceof AppError && error.code === 'secret_changed')) throw error;
      const target = maskedTarget(id, { settings: body.settings, secrets: noSecrets });
      return { revision, target, problem: error.message };
    }
  }
}

const noSecrets: TargetSecrets = { endpoints: [], headers: {}, signingSecrets: [] };

const contextOf = (tenant: string, id: string): string => `target ${tenant}/${id}`;

/** Alerts name their targets in the member `targets`. */
const usesTarget = ({ targets }: Readonly<Record<string, unknown>>, id: string): boolean =>
  Array.isArray(targets) && targets.includes(id);

/**
 * Whether a target of this type may lead to a URL now.
 * @throws AppError `target_refused`
 */
async function requireReachable(guard: AddressGuard, type: TargetType, endpoint: string): Promise<void> {
  const url = readUrl(endpoint);
  let addresses: readonly string[] = [];
  try {
    addresses = await guard.addressesOf(url);
  } catch (error) {
    if (!(error instanceof AppError && error.code === 'target_unreachable')) throw error;
  }
  if (isServiceUrl(type, url) !== false || (addresses.length > 0 && guard.areListed(addresses))) return;
  throw new AppError(
    'target_refused',
    type === 'slack'
      ? 'a target of the type slack has a URL of https://hooks.slack.com or https://hooks.slack-gov.com'
      : 'a target of the type pagerduty has the URL https://events.pagerduty.com/v2/enqueue or that of events.eu.pagerduty.com',
  );
}
