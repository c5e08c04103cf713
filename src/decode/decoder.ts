import type { XXHashAPI } from 'xxhash-wasm';
import { AppError, errorText } from '../errors.ts';
import { limits } from '../limits/limits.ts';
import { decodeJsonEvents } from './events/json-events.ts';
import type { SeriesContext } from './metrics/series-resolver.ts';
import { SeriesTable } from './metrics/series-table.ts';
import { decodeJsonLogs } from './otlp/logs/json-logs.ts';
import { decodeProtobufLogs } from './otlp/logs/protobuf-logs.ts';
import { decodeJsonMetrics } from './otlp/metrics/json-metrics.ts';
import { decodeOtlpMetrics } from './otlp/metrics/protobuf-metrics.ts';
import { decodeJsonTraces } from './otlp/traces/json-traces.ts';
import { decodeProtobufTraces } from './otlp/traces/protobuf-traces.ts';
import type { DecodeOutcomes } from './outcomes.ts';
import type { RemoteWriteKernel } from './remote-write/remote-write-kernel.ts';
import { decodeRemoteWriteV1, decodeV1WithKernel } from './remote-write/remote-write-v1.ts';
import { decodeRemoteWriteV2, decodeV2WithKernel } from './remote-write/remote-write-v2.ts';
import type { DecodedBody, DecodeResult, DecodeTask } from './task.ts';
import { decodeBody } from './wire/decompression.ts';

/** Decodes bodies of all formats. One for each worker: it remembers the series that it has met. */
export class Decoder {
  readonly #series: SeriesContext;
  readonly #kernel: RemoteWriteKernel | undefined;

  /** @param kernel makes remote write cheaper, and changes nothing else */
  constructor(outcomes: DecodeOutcomes, hashes: XXHashAPI, kernel?: RemoteWriteKernel) {
    const metadata = kernel?.metadata ?? new SeriesTable(limits.metadataCacheEntries);
    this.#series = { table: kernel?.table ?? new SeriesTable(), metadata, outcomes, hashes };
    this.#kernel = kernel;
  }

  /** Never throws: tasks share a worker, and what is wrong with one of them must not touch the others. */
  decode(task: DecodeTask): DecodeResult {
    try {
      const { blocks, counts, refused } = this.#decode(task);
      return { ok: true, blocks, counts, refused };
    } catch (error) {
      if (error instanceof AppError) return { ok: false, code: error.code, message: error.message };
      return {
        ok: false,
        code: 'internal',
        message: 'The body could not be decoded because of a fault in the service',
        stack: error instanceof Error ? (error.stack ?? error.message) : errorText(error),
      };
    }
  }

  #decode(task: DecodeTask): DecodedBody {
    if (task.format === 'remote-write-1' && this.#kernel?.load(task)) {
      return decodeV1WithKernel(this.#kernel, task, this.#series);
    }
    if (task.format === 'remote-write-2' && this.#kernel?.load(task)) {
      return decodeV2WithKernel(this.#kernel, task, this.#series);
    }
    const body = decodeBody(task.body, task.encoding, task.maxDecodedBytes);
    switch (task.format) {
      case 'json':
      case 'ndjson':
        return decodeJsonEvents(
          body,
          task.format,
          task.receivedMicros,
          task.maxEventBytes,
          task.events,
          task.bounds,
          task.origin,
        );
      case 'remote-write-1':
        return decodeRemoteWriteV1(body, task, this.#series);
      case 'remote-write-2':
        return decodeRemoteWriteV2(body, task, this.#series);
      case 'otlp-logs-json':
        return decodeJsonLogs(body, task.receivedMicros, task.bounds);
      case 'otlp-logs-protobuf':
        return decodeProtobufLogs(body, task.receivedMicros, task.bounds);
      case 'otlp-traces-json':
        return decodeJsonTraces(body, task.receivedMicros, task.bounds);
      case 'otlp-traces-protobuf':
        return decodeProtobufTraces(body, task.receivedMicros, task.bounds);
      case 'otlp-metrics-json':
        return decodeJsonMetrics(body, task, this.#series);
      case 'otlp-metrics-protobuf':
        return decodeOtlpMetrics(body, task, this.#series);
    }
  }
}
