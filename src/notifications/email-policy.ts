import { AppError } from '../errors.ts';

/** What the operator's configuration says about e-mail. */
export interface EmailPolicy {
  /** False: there is no mail server. */
  readonly hasServer: boolean;
  /** Domains that mail may go to, in lower case; undefined: any. */
  readonly domains: ReadonlySet<string> | undefined;
}

/** @throws AppError `target_refused` */
export function requireMailAllowed(recipients: readonly string[], { hasServer, domains }: EmailPolicy): void {
  if (!hasServer) {
    const reason = 'no mail server is configured; the operator sets MILLRACE_SMTP_URL and MILLRACE_SMTP_FROM';
    throw new AppError('target_refused', reason);
  }
  for (const recipient of recipients) {
    const domain = recipient.slice(recipient.lastIndexOf('@') + 1).toLowerCase();
    if (domains === undefined || domains.has(domain)) continue;
    throw new AppError('target_refused', `mail to ${domain} is not among MILLRACE_SMTP_DOMAINS`);
  }
}
