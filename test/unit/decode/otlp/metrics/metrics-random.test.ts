import { expect, test } from 'vitest';
import { seededRandom } from '../../../../support/lib/random.ts';
import { testSeed } from '../../../../support/lib/seed.ts';
import {
  type Fields,
  MetricsDecoding,
  metricsJson,
  metricsProtobuf,
  receivedMicros,
} from '../../../../support/otlp/otlp-metrics.ts';
import { compareMetrics, storedMetrics } from '../../../../support/otlp/otlp-metrics-check.ts';
import { expectedMetrics } from '../../../../support/otlp/otlp-metrics-oracle.ts';
import { RandomMetrics } from '../../../../support/otlp/otlp-metrics-random.ts';
import { plainStyle, randomStyle } from '../../../../support/otlp/otlp-requests.ts';

const seed = testSeed;
const requests = 200;
/** Of each kind of rows. Some are rare, so there are as many more requests as this takes, within a bound. */
const wantedRows = 11;
const maxRequests = 10 * requests;

function check(request: Fields, random: ReturnType<typeof seededRandom>): void {
  const message = metricsProtobuf(request);
  const expected = expectedMetrics(message, receivedMicros);
  compareMetrics(storedMetrics(new MetricsDecoding().body(message)), expected);
  for (const style of [plainStyle, randomStyle(random)]) {
    const json = metricsJson(request, style);
    const result = new MetricsDecoding().body(json, 'otlp-metrics-json');
    try {
      compareMetrics(storedMetrics(result), expected);
    } catch (error) {
      throw new Error(`${json.toString()}\n${error instanceof Error ? error.message : String(error)}`);
    }
  }
}

test(`JSON and protobuf of the same request become the rows that the oracle expects (seed ${seed})`, () => {
  const seen = { samples: 0, exemplars: 0, histograms: 0, refused: 0 };
  const fewest = () => Math.min(...Object.values(seen));
  for (let number = 0; number < requests || (fewest() < wantedRows && number < maxRequests); number++) {
    const random = seededRandom((seed ^ Math.imul(number + 1, 0x9e37_79b1)) >>> 0);
    const request = new RandomMetrics(random).request();
    try {
      check(request, random);
    } catch (error) {
      throw new Error(
        `seed ${seed}, number ${number}: ${error instanceof Error ? error.stack : String(error)}`,
      );
    }
    const { samples, exemplars, histograms, refusedPoints } = expectedMetrics(
      metricsProtobuf(request),
      receivedMicros,
    );
    seen.samples += samples.length;
    seen.exemplars += exemplars.length;
    seen.histograms += histograms.length;
    seen.refused += refusedPoints;
  }
  expect(fewest()).toBeGreaterThanOrEqual(wantedRows);
});
