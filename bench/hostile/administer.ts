import type { Answer } from './answer.ts';
import type { Attacker } from './attacker.ts';

/** Sends JSON, or text that is none, as the administrator of the attacking tenant. */
export const administer = (
  attacker: Attacker,
  path: string,
  body: unknown,
  method: 'PUT' | 'POST' | 'PATCH' = 'PUT',
): Promise<Answer> =>
  attacker.send({
    as: 'admin',
    method,
    path,
    headers: { 'content-type': 'application/json' },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });

export const remove = (attacker: Attacker, path: string): Promise<Answer> =>
  attacker.send({ as: 'admin', method: 'DELETE', path });

/** Makes something. @returns the answer, and the id in it */
export async function make(
  attacker: Attacker,
  path: string,
  body: unknown,
): Promise<{ readonly answer: Answer; readonly id: string }> {
  let id = '';
  const answer = await attacker.send({
    as: 'admin',
    method: 'POST',
    path,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
    onText: (text) => {
      id = (JSON.parse(text) as { id?: string }).id ?? '';
    },
  });
  return { answer, id };
}
