import type { X509Certificate } from 'node:crypto';
import { join } from 'node:path';
import type { Config } from '../config/config.ts';
import type { HttpAddress } from '../http/server/listener.ts';
import type { Address } from '../lib/option-values.ts';
import { defaultTenant } from '../model/dataset.ts';

export interface BannerOptions {
  readonly version: string;
  readonly config: Config;
  readonly address: HttpAddress;
  /** Where SQL clients connect; undefined: nowhere. */
  readonly pgAddress: Address | undefined;
  /** Of the server, if it speaks HTTPS. */
  readonly certificate?: X509Certificate | undefined;
  /** The generated password, only on the start that generated it. It is not shown again. */
  readonly newPassword: string | undefined;
}

/**
 * What a person sees at the start: the address, and three commands that can be pasted into a shell. The
 * commands read the password from its file, so the password itself is not saved in the shell's history.
 */
export function banner(options: BannerOptions): string {
  const { version, config, address, pgAddress, certificate, newPassword } = options;
  const url = serviceUrl(address, certificate);
  const file = config.adminPasswordFile ?? join(config.dataDir, 'admin-password');
  const own = config.adminPassword !== undefined && config.adminPasswordFile === undefined;
  const password = own ? '"$MILLRACE_ADMIN_PASSWORD"' : `"$(cat ${quote(file)})"`;
  const tenant = config.multiTenant ? ` -H 'X-P-Tenant: ${defaultTenant}'` : '';
  const user = `-u ${config.adminUsername}:${password}${tenant}`;
  const headers = config.multiTenant ? `, headers: {X-P-Tenant: ${defaultTenant}}` : '';
  const basicAuth = own
    ? `{username: ${config.adminUsername}, password: <password>}`
    : `{username: ${config.adminUsername}, password_file: ${file}}`;
  return [
    `Millrace ${version} is ready at ${url}`,
    `  data in ${config.dataDir}`,
    ...(config.clickhouseUrl === undefined
      ? []
      : [`  stored in ClickHouse at ${config.clickhouseUrl.origin}`]),
    `  administrator: ${config.adminUsername}${newPassword === undefined ? '' : `, password: ${newPassword}`}`,
    ...(own
      ? []
      : [
          `  the password is ${config.adminPasswordFile === undefined ? 'kept ' : ''}in ${file}${newPassword === undefined ? '' : ' and not shown again'}`,
        ]),
    '',
    'Send events:',
    `  curl ${user} -H 'X-P-Stream: app' -H 'Content-Type: application/json' -d '[{"level":"info","message":"hello"}]' ${url}/api/v1/ingest`,
    'Query them:',
    `  curl ${user} -H 'Content-Type: application/json' -d '{"query":"SELECT level, count(*) FROM app GROUP BY level"}' ${url}/api/v1/query`,
    ...(pgAddress === undefined
      ? []
      : [
          'Or with any client of PostgreSQL:',
          `  PGPASSWORD=${password} psql -h ${shownHost(pgAddress.host)} -p ${pgAddress.port} -U ${config.adminUsername} millrace`,
        ]),
    'Send metrics from Prometheus:',
    `  echo 'remote_write: [{url: "${url}/v1/prometheus/write", basic_auth: ${basicAuth}${headers}}]' >> prometheus.yml`,
    '',
    '',
  ].join('\n');
}

/** A client on this machine reaches a server that listens everywhere here. */
const shownHost = (host: string): string => (host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host);

/**
 * Where the service is reached from this machine. Clients check the name in a URL against the certificate, so
 * it is one that the certificate has, if it has one without a wildcard.
 */
export function serviceUrl({ host, port }: HttpAddress, certificate: X509Certificate | undefined): string {
  const address = shownHost(host);
  const shown = address.includes(':') ? `[${address}]` : address;
  if (certificate === undefined) return `http://${shown}:${port}`;
  const isNamed = certificate.checkIP(address) !== undefined || certificate.checkHost(address) !== undefined;
  const name = /(?:^|, )DNS:([A-Za-z0-9.-]+)/.exec(certificate.subjectAltName ?? '')?.[1];
  return `https://${isNamed || name === undefined ? shown : name}:${port}`;
}

/** A path for a shell. */
const quote = (path: string): string => `'${path.replaceAll("'", "'\\''")}'`;
