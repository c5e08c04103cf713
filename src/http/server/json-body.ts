import { AppError, errorText } from '../../errors.ts';

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** @throws AppError `bad_json` */
export function parseJsonBody(body: Uint8Array): unknown {
  try {
    return JSON.parse(utf8.decode(body));
  } catch (error) {
    throw new AppError('bad_json', errorText(error), { cause: error });
  }
}
