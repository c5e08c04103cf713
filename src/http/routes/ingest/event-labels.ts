import type { EventLabels } from '../../../decode/task.ts';
import { AppError } from '../../../errors.ts';
import { limits } from '../../../limits/limits.ts';

const labelHeader = /^x-p-(?:meta|tag)-/;
const printable = /^[\x20-\x7e]+$/;

/**
 * The fields that the headers `X-P-Meta-…` and `X-P-Tag-…` add to every event of a request, in the order of
 * their names: `X-P-Meta-Host: web-1` gives `meta-host`. Undefined if there are none.
 * @param extensions headers by their names in lower case
 * @throws AppError `bad_header`
 */
export function eventLabels(extensions: ReadonlyMap<string, string>): EventLabels | undefined {
  const labels: Array<readonly [string, string]> = [];
  for (const [header, value] of extensions) {
    if (!labelHeader.test(header)) continue;
    if (header.replace(labelHeader, '') === '') {
      throw new AppError('bad_header', `the header ${header} needs a name after this prefix`);
    }
    // Beyond ASCII the encoding of the bytes is not known.
    if (!printable.test(value)) {
      throw new AppError('bad_header', `the value of the header ${header} is not printable ASCII`);
    }
    const field = header.slice('x-p-'.length);
    if (field.length > limits.maxFieldNameBytes) {
      throw new AppError('bad_header', `the name of the header ${header.slice(0, 60)}… is too long`);
    }
    labels.push([field, value]);
  }
  if (labels.length === 0) return undefined;
  if (labels.length > limits.maxEventLabels) {
    throw new AppError(
      'bad_header',
      `there are ${labels.length} headers X-P-Meta-… and X-P-Tag-…; at most ${limits.maxEventLabels} are allowed`,
    );
  }
  return labels.sort(([one], [other]) => (one < other ? -1 : 1));
}
