import type { SeriesContext } from '../../metrics/series-resolver.ts';
import type { DecodedBody, MetricsTask } from '../../task.ts';
import { JsonToProtobuf } from '../json/json-to-protobuf.ts';
import { metricsRequest } from './metric-descriptors.ts';
import { decodeOtlpMetrics } from './protobuf-metrics.ts';

const request = new JsonToProtobuf(metricsRequest);

/**
 * OTLP metrics in JSON.
 * @throws AppError `bad_json`, `body_too_large`
 */
export function decodeJsonMetrics(body: Buffer, task: MetricsTask, context: SeriesContext): DecodedBody {
  return decodeOtlpMetrics(request.convert(body), task, context);
}
