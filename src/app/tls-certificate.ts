import type { X509Certificate } from 'node:crypto';
import { errorText } from '../errors.ts';
import type { Logger } from '../lib/log.ts';
import { checkTlsFiles, type TlsFiles, versionOfTlsFiles } from '../lib/tls-files.ts';
import { limits } from '../limits/limits.ts';

/** A server that uses a certificate. */
export interface CertificateUser {
  /** For connections from now on. @throws Error where the files cannot be used */
  useCertificate(files: TlsFiles): Promise<void>;
}

/** The certificate of the servers, which is followed while they run. */
export interface TlsCertificate {
  /** Of the first start. */
  readonly certificate: X509Certificate;
  /** These servers get each new certificate. */
  follow(servers: readonly CertificateUser[]): void;
  /** Reads the files again, whether or not they look changed. Never rejects. */
  reload(): Promise<void>;
  stop(): void;
}

/**
 * Opens the files of a certificate, and watches them: every `tlsCheckIntervalMs` their times, sizes and
 * inodes are compared, and files that have changed, and not since the last look, are loaded. So a certificate
 * and its key, which are replaced one after the other, are not read in between. New files that cannot be used
 * change nothing, but for a line in the log. Connections that are open keep their certificate.
 * @throws BadCertificate when the files cannot be used at the start
 */
export async function openTlsCertificate(files: TlsFiles, log: Logger): Promise<TlsCertificate> {
  let loadedVersion = await versionOfTlsFiles(files);
  let seenVersion = loadedVersion;
  const certificate = await checkTlsFiles(files);
  let servers: readonly CertificateUser[] = [];
  let loading = Promise.resolve();

  const load = async (): Promise<void> => {
    loadedVersion = await versionOfTlsFiles(files);
    try {
      const { validTo } = await checkTlsFiles(files);
      for (const server of servers) await server.useCertificate(files);
      log.info({ certificate: files.certificate, validTo }, 'the TLS certificate was loaded');
    } catch (error) {
      log.error({ reason: errorText(error) }, 'the new TLS certificate cannot be used; the last one stays');
    }
  };
  const reload = (): Promise<void> => {
    loading = loading.then(load);
    return loading;
  };
  const look = async (): Promise<void> => {
    const version = await versionOfTlsFiles(files);
    const isSettled = version === seenVersion;
    seenVersion = version;
    if (isSettled && version !== loadedVersion) await reload();
  };
  const timer = setInterval(() => void look(), limits.tlsCheckIntervalMs);
  timer.unref();
  return {
    certificate,
    follow: (followers) => {
      servers = followers;
    },
    reload,
    stop: () => clearInterval(timer),
  };
}
