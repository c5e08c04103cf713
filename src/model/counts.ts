/** How much of each kind a body held, for the reply and for `/metrics`. */
export interface DecodeCounts {
  readonly events: number;
  /** OTLP log records. */
  readonly logs: number;
  readonly spans: number;
  readonly samples: number;
  /** Native histograms: each is one data point, however many buckets it has. */
  readonly histograms: number;
  readonly exemplars: number;
  /** OTLP data points. Each becomes one or more samples, or a histogram. */
  readonly points: number;
  /** Descriptions of metrics (type, unit, help). */
  readonly metadata: number;
  /** Reasons why a part of the body was refused while the rest was stored. */
  readonly problems: number;
}

export const noCounts: DecodeCounts = {
  events: 0,
  logs: 0,
  spans: 0,
  samples: 0,
  histograms: 0,
  exemplars: 0,
  points: 0,
  metadata: 0,
  problems: 0,
};

let lastOfSamples = noCounts;

/**
 * Counts of a body with samples and descriptions of metrics only. No spread, which takes V8 longer
 * than decoding a small body; and the same object as before if it is equal, since each request is
 * remembered with its counts.
 */
export function countsOfSamples(samples: number, metadata: number): DecodeCounts {
  const last = lastOfSamples;
  if (last.samples === samples && last.metadata === metadata) return last;
  lastOfSamples = {
    events: 0,
    logs: 0,
    spans: 0,
    samples,
    histograms: 0,
    exemplars: 0,
    points: 0,
    metadata,
    problems: 0,
  };
  return lastOfSamples;
}

/** The part of a body that was refused while the rest was stored. */
export interface RefusedPart {
  readonly counts: DecodeCounts;
  /** The first problems. Each says what was wrong and where. */
  readonly problems: readonly string[];
}
