import { AppError } from '../errors.ts';
import type { Logger } from '../lib/log.ts';
import type { DeliveryOutcome } from './delivery-outcome.ts';
import type { TargetType } from './notification.ts';
import { sendToAlertmanager } from './senders/alertmanager-sender.ts';
import type { EmailSender } from './senders/email-sender.ts';
import { sendToPagerduty } from './senders/pagerduty-sender.ts';
import type { OutgoingNotification, Sender, SenderContext } from './senders/sender.ts';
import { sendSlack } from './senders/slack-sender.ts';
import { sendWebhook } from './senders/webhook-sender.ts';
import { outcomeOfError } from './target-request.ts';
import type { Targets } from './targets.ts';

/** Sends notifications to targets, by the types of these. */
export class TargetSender {
  readonly #targets: Pick<Targets, 'open'>;
  readonly #context: SenderContext;
  readonly #senders: Readonly<Record<TargetType, Sender | undefined>>;
  readonly #log: Logger;

  /** @param email undefined if there is no mail server */
  constructor(
    targets: Pick<Targets, 'open'>,
    context: SenderContext,
    email: EmailSender | undefined,
    log: Logger,
  ) {
    this.#targets = targets;
    this.#context = context;
    this.#log = log;
    this.#senders = {
      webhook: sendWebhook,
      slack: sendSlack,
      alertManager: sendToAlertmanager,
      pagerduty: sendToPagerduty,
      email: email?.send,
    };
  }

  /** Tries once. Never rejects: what goes wrong is an outcome. @param signal ends it */
  async send(tenant: string, outgoing: OutgoingNotification, signal: AbortSignal): Promise<DeliveryOutcome> {
    try {
      const target = this.#targets.open(tenant, outgoing.targetId);
      const send = this.#senders[target.settings.type];
      if (send === undefined) throw new AppError('target_refused', 'no mail server is configured');
      return await send(this.#context, target, outgoing, signal);
    } catch (error) {
      if (error instanceof AppError) return outcomeOfError(error);
      this.#log.error({ err: error, target: outgoing.targetId }, 'a notification could not be sent');
      return { kind: 'retry', error: { code: 'internal', message: 'see the log of the service' } };
    }
  }
}
