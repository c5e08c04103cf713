import { AppError } from '../../errors.ts';
import { checkDatasetName } from '../../model/dataset.ts';
import type { RequestHeaders } from './headers.ts';
import type { DatasetRoute } from './route.ts';
import type { Match } from './router.ts';

/**
 * The dataset that a request names. It is validated before the policy uses it, so that the policy only
 * compares valid names.
 * @throws AppError `bad_header`, `bad_dataset_name`
 */
export function requestDataset(route: DatasetRoute, match: Match, headers: RequestHeaders): string {
  if (route.dataset === 'path') return checkDatasetName(decodeParameter(match, 'bad_dataset_name'));
  if (headers.stream !== '') return checkDatasetName(headers.stream);
  if (route.defaultDataset !== undefined) return route.defaultDataset;
  throw new AppError('bad_header', 'the header X-P-Stream must name the dataset');
}

/**
 * The value of the path parameter of the route, decoded; empty if the route has none.
 * @throws AppError with `code`
 */
export function decodeParameter({ parameter = '' }: Match, code: 'bad_name' | 'bad_dataset_name'): string {
  try {
    return decodeURIComponent(parameter);
  } catch (error) {
    throw new AppError(code, 'the name in the path is not valid percent-encoding', { cause: error });
  }
}
