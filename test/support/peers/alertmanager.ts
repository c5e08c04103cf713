import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Child, freePort, removeFolder, temporaryFolder } from '../lib/child.ts';
import { answers } from '../service/service.ts';

const program = '/usr/bin/prometheus-alertmanager';

/** Why there is no Alertmanager on this machine; undefined when there is one. */
export const alertmanagerProblem = existsSync(program) ? undefined : `there is no ${program}`;

/** An alert as Alertmanager's API lists it. */
export interface ListedAlert {
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly startsAt: string;
  readonly endsAt: string;
  readonly generatorURL: string;
}

/** Debian's Alertmanager as a child process on the loopback interface, which tells a webhook. */
export class Alertmanager {
  readonly url: string;
  readonly #child: Child;
  readonly #folder: string;

  private constructor(child: Child, url: string, folder: string) {
    this.#child = child;
    this.url = url;
    this.#folder = folder;
  }

  static async start(webhookUrl: string): Promise<Alertmanager> {
    const port = await freePort();
    const folder = temporaryFolder('alertmanager');
    const config = join(folder, 'alertmanager.json');
    const webhook = { url: webhookUrl, send_resolved: true };
    // JSON is YAML.
    writeFileSync(
      config,
      JSON.stringify({
        route: { receiver: 'hook', group_by: ['alertname'], group_wait: '0s', group_interval: '1s' },
        receivers: [{ name: 'hook', webhook_configs: [webhook] }],
      }),
    );
    const child = await Child.start({
      name: 'alertmanager',
      command: program,
      args: [
        `--config.file=${config}`,
        `--storage.path=${join(folder, 'data')}`,
        `--web.listen-address=127.0.0.1:${port}`,
        '--cluster.listen-address=',
      ],
    });
    const url = `http://127.0.0.1:${port}`;
    await child.ready(() => answers(`${url}/-/ready`));
    return new Alertmanager(child, url, folder);
  }

  /** What fires there, by the label `host`. */
  async firing(): Promise<ReadonlyMap<string, ListedAlert>> {
    const reply = await fetch(`${this.url}/api/v2/alerts`);
    const listed = (await reply.json()) as readonly ListedAlert[];
    return new Map(listed.map((alert) => [alert.labels['host'] ?? '', alert]));
  }

  async dispose(): Promise<void> {
    await this.#child.stop('SIGKILL');
    removeFolder(this.#folder);
  }
}
