import { AppError } from '../errors.ts';
import { limits } from '../limits/limits.ts';
import { type DecodeCounts, noCounts, type RefusedPart } from '../model/counts.ts';

/** What a refusal loses, by kind. Metadata is not counted as lost data. */
export type Lost = Partial<Pick<DecodeCounts, 'samples' | 'histograms' | 'exemplars' | 'points'>>;

/**
 * What cannot be stored of a request. Version 1.0 has no way to say that a part of it was: there the first
 * problem refuses all of it. In 2.0 the rest is stored, and the reply counts and names what was not.
 */
export class Refusals {
  readonly #isPartial: boolean;
  readonly #problems: string[] = [];
  #total = 0;
  #samples = 0;
  #histograms = 0;
  #exemplars = 0;
  #points = 0;

  constructor(isPartial: boolean) {
    this.#isPartial = isPartial;
  }

  /**
   * @param describe what is wrong and with what; called for as many as the reply can show
   * @throws AppError `bad_series` if nothing can be stored without it
   */
  add(lost: Lost, describe: () => string): void {
    if (!this.#isPartial) throw new AppError('bad_series', describe());
    if (this.#total++ < limits.maxReportedProblems) this.#problems.push(describe());
    this.#samples += lost.samples ?? 0;
    this.#histograms += lost.histograms ?? 0;
    this.#exemplars += lost.exemplars ?? 0;
    this.#points += lost.points ?? 0;
  }

  finish(): RefusedPart | undefined {
    if (this.#total === 0) return undefined;
    return {
      counts: {
        ...noCounts,
        samples: this.#samples,
        histograms: this.#histograms,
        exemplars: this.#exemplars,
        points: this.#points,
        problems: this.#total,
      },
      problems: this.#problems,
    };
  }
}
