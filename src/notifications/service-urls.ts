/** Where the services are that have one place for all. */

export const slackHosts: readonly string[] = ['hooks.slack.com', 'hooks.slack-gov.com'];

/** PagerDuty's Events API v2 of its two regions. */
export const pagerdutyUrls = {
  us: 'https://events.pagerduty.com/v2/enqueue',
  eu: 'https://events.eu.pagerduty.com/v2/enqueue',
} as const;
