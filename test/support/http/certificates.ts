import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

/** Whether certificates can be made on this machine. */
export const hasOpenssl = (() => {
  try {
    execFileSync('openssl', ['version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
})();

/**
 * Makes a self-signed certificate and its key in a folder, in the place of those that are there.
 * @param name its common name, by which tests tell one from another; it is for localhost and 127.0.0.1
 */
export function makeCertificate(folder: string, name: string): { certificate: string; key: string } {
  const [certificate, key] = [join(folder, 'cert.pem'), join(folder, 'key.pem')];
  const names = 'subjectAltName=DNS:localhost,IP:127.0.0.1';
  const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1'];
  const made = ['-keyout', key, '-out', certificate, '-days', '2', '-subj', `/CN=${name}`, '-addext', names];
  execFileSync('openssl', ['req', '-x509', '-nodes', ...curve, ...made], { stdio: 'ignore' });
  return { certificate, key };
}
