import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto';
import { AppError } from '../errors.ts';

const algorithm = 'aes-256-gcm';
const nonceBytes = 12;
const tagBytes = 16;

/**
 * Encrypts small secrets at rest, and finds them without decrypting them.
 *
 * Both keys are derived (HKDF, RFC 5869) from one secret of high entropy, so neither reveals the other.
 */
export class SecretBox {
  readonly #sealingKey: Buffer;
  readonly #digestKey: Buffer;

  constructor(secret: string) {
    const derive = (use: string) => Buffer.from(hkdfSync('sha256', secret, '', `millrace ${use}`, 32));
    this.#sealingKey = derive('sealing');
    this.#digestKey = derive('digest');
  }

  /**
   * Encrypts a text with AES-256-GCM.
   * @param context what the text belongs to; it can be opened only with the same context
   * @returns nonce, ciphertext and tag, in base64
   */
  seal(text: string, context: string): string {
    const nonce = randomBytes(nonceBytes);
    const cipher = createCipheriv(algorithm, this.#sealingKey, nonce, { authTagLength: tagBytes }).setAAD(
      Buffer.from(context),
    );
    const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
    return Buffer.concat([nonce, sealed, cipher.getAuthTag()]).toString('base64');
  }

  /** @throws AppError `secret_changed` if it was sealed with another secret or context, or was altered */
  open(sealed: string, context: string): string {
    const bytes = Buffer.from(sealed, 'base64');
    try {
      const decipher = createDecipheriv(algorithm, this.#sealingKey, bytes.subarray(0, nonceBytes), {
        authTagLength: tagBytes,
      })
        .setAAD(Buffer.from(context))
        .setAuthTag(bytes.subarray(-tagBytes));
      const text = decipher.update(bytes.subarray(nonceBytes, -tagBytes));
      return Buffer.concat([text, decipher.final()]).toString('utf8');
    } catch (error) {
      const reason = 'it was encrypted with another MILLRACE_SECRET than that of now, or has been damaged';
      throw new AppError('secret_changed', reason, { cause: error });
    }
  }

  /** A keyed hash (HMAC-SHA-256): equal for equal texts, and useless without the secret. */
  digest(text: string): string {
    return createHmac('sha256', this.#digestKey).update(text).digest('base64');
  }
}
