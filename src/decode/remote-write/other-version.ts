import { AppError } from '../../errors.ts';

/**
 * The refusal of a message that is declared as one of the other version. At their tops the versions have no
 * number of a field in common: 1.0 has 1 and 3, and 2.0 has 4 and 5. Without this rule all of it would be
 * skipped as fields that nobody knows, and the sender would be told that it is stored.
 */
export const otherVersion = (actual: '1.0' | '2.0', declared: '1.0' | '2.0'): AppError =>
  new AppError(
    'bad_protobuf',
    `The body is a message of Remote Write ${actual}, and it is declared as one of ${declared}: the parameter proto of the Content-Type says which it is, and a Content-Type without it means 1.0`,
  );
