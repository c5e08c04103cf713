import { X509Certificate } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { createSecureContext, type SecureContext } from 'node:tls';
import { limits } from '../limits/limits.ts';

/** Where a server's certificate is: PEM files. */
export interface TlsFiles {
  /** The certificate and, behind it, those of its chain. */
  readonly certificate: string;
  readonly key: string;
}

/** A certificate cannot be used. The message names the file and what is wrong. */
export class BadCertificate extends Error {
  override readonly name = 'BadCertificate';
}

/**
 * Checks that a server can use the files: both can be read, and the key is that of the certificate.
 * @returns the certificate
 * @throws BadCertificate
 */
export async function checkTlsFiles(files: TlsFiles): Promise<X509Certificate> {
  const pem = await readPem(files);
  secureContextOf(files, pem);
  return new X509Certificate(pem.cert);
}

/** What a server of Node.js needs of them. @throws BadCertificate */
export async function readSecureContext(files: TlsFiles): Promise<SecureContext> {
  return secureContextOf(files, await readPem(files));
}

/** What the files hold. */
interface Pem {
  readonly cert: Buffer;
  readonly key: Buffer;
}

async function readPem(files: TlsFiles): Promise<Pem> {
  return { cert: await readBounded(files.certificate), key: await readBounded(files.key) };
}

function secureContextOf(files: TlsFiles, { cert, key }: Pem): SecureContext {
  try {
    return createSecureContext({ cert, key });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new BadCertificate(
      `the TLS certificate ${files.certificate} and the key ${files.key} cannot be used together: ${reason}`,
      { cause: error },
    );
  }
}

async function readBounded(path: string): Promise<Buffer> {
  try {
    const { size } = await stat(path);
    if (size > limits.maxTlsFileBytes) throw new Error(`it has ${size} bytes`);
    return await readFile(path);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new BadCertificate(`the TLS file ${path} cannot be read: ${reason}`, { cause: error });
  }
}

/** What changes when one of the files is replaced, also by way of a symbolic link. */
export async function versionOfTlsFiles(files: TlsFiles): Promise<string> {
  const versions = [files.certificate, files.key].map(async (path) => {
    try {
      const { ino, size, mtimeMs } = await stat(path);
      return `${ino}:${size}:${mtimeMs}`;
    } catch {
      return 'none';
    }
  });
  return (await Promise.all(versions)).join(' ');
}
