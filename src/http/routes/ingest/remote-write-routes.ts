import * as v from 'valibot';
import { AppError } from '../../../errors.ts';
import type { Acknowledgement, Ingest } from '../../../ingest/ingest-request.ts';
import { type DecodeCounts, noCounts, type RefusedPart } from '../../../model/counts.ts';
import { acceptMediaTypes, type ContentTypeRule } from '../../server/content-type.ts';
import {
  emptyReply,
  jsonReply,
  problemReply,
  RefusalWithHeaders,
  type Reply,
  withReplayed,
} from '../../server/reply.ts';
import { bytes, jsonContent } from '../../server/reply-content.ts';
import type { DatasetRequest, RefusalFormat, Route } from '../../server/route.ts';
import { ingestErrors } from './ingest-routes.ts';

export interface RemoteWriteRouteOptions {
  readonly ingest: Ingest;
  readonly maxBodyBytes: number;
}

const mediaType = 'application/x-protobuf';
const version1 = `${mediaType};proto=prometheus.WriteRequest`;
const version2 = `${mediaType};proto=io.prometheus.write.v2.Request`;
const protoParameter = /;\s*proto\s*=\s*"?([^";\s]*)"?/i;
const acceptProtobuf = acceptMediaTypes([mediaType]);

/** A parameter of the media type names the message of the body. Without it, the version is 1.0. */
const acceptVersions: ContentTypeRule = (header) => {
  acceptProtobuf(header);
  const message = protoParameter.exec(header)?.[1];
  const version = message === undefined ? version1 : `${mediaType};proto=${message}`;
  if (version === version1 || version === version2) return version;
  throw new AppError(
    'unsupported_media_type',
    `the message in the parameter proto is neither that of Remote Write 1.0 nor that of 2.0; this route takes ${version1} and ${version2}`,
    { details: { supported: [version1, version2] } },
  );
};

/** Prometheus Remote Write, both versions. */
export function remoteWriteRoutes({ ingest, maxBodyBytes }: RemoteWriteRouteOptions): Route[] {
  const write = (request: DatasetRequest, format: 'remote-write-1' | 'remote-write-2') =>
    ingest.write({
      tenant: request.tenant,
      dataset: request.dataset,
      format,
      encoding: request.encoding,
      body: request.body,
      mustExist: false,
    });
  return [
    {
      method: 'POST',
      path: '/v1/prometheus/write',
      permission: 'ingest',
      // Some senders cannot set a custom header.
      dataset: 'header',
      defaultDataset: 'prometheus',
      refusal,
      reference: {
        group: 'Ingest',
        summary: 'Write samples by Prometheus Remote Write 1.0 or 2.0',
        details:
          'A request beyond the rate limit gets 503 here, since Prometheus drops a request after 429, and repeats it ' +
          'after 503.',
        replies: [
          {
            status: 200,
            description: 'All of a request of version 1.0 is stored.',
            content: jsonContent(
              v.object({
                samples: v.number(),
                histograms: v.number(),
                exemplars: v.number(),
                metadata: v.number(),
              }),
            ),
          },
          {
            status: 204,
            description: 'All of a request of version 2.0 is stored.',
            headers: {
              'X-Prometheus-Remote-Write-Samples-Written': 'Samples that are stored.',
              'X-Prometheus-Remote-Write-Histograms-Written': 'Histograms that are stored.',
              'X-Prometheus-Remote-Write-Exemplars-Written': 'Exemplars that are stored.',
            },
          },
        ],
        errors: [...ingestErrors, 'bad_protobuf', 'bad_series'],
      },
      body: {
        reference: {
          description:
            'A `prometheus.WriteRequest`, or an `io.prometheus.write.v2.Request`, compressed as a snappy block.',
          content: { [version1]: bytes, [version2]: bytes, [mediaType]: bytes },
          isRequired: true,
          errors: [],
        },
        maxBytes: maxBodyBytes,
        contentType: acceptVersions,
        // The specification allows only snappy. vmagent tries zstd first and falls back after a 415.
        encodings: ['snappy'],
        reserve: (tenant, dataset) => ingest.admit(tenant, dataset),
      },
      handler: (request) =>
        request.contentType === version2
          ? version2Reply(() => write(request, 'remote-write-2'))
          : write(request, 'remote-write-1').then(version1Reply),
    },
  ];
}

/**
 * By default Prometheus drops a request after 429, but repeats it after 503.
 */
const refusal: RefusalFormat = (error) =>
  problemReply(error, error.code === 'rate_limited' ? 503 : undefined);

function version1Reply({ counts, replayed }: Acknowledgement): Reply {
  const { samples, histograms, exemplars, metadata } = counts;
  return withReplayed(jsonReply({ samples, histograms, exemplars, metadata }), replayed);
}

/**
 * 204 if all of the request is stored. Otherwise an error, with headers that say how much is stored anyway.
 * Without these headers a sender would assume a receiver of version 1.0.
 */
async function version2Reply(write: () => Promise<Acknowledgement>): Promise<Reply> {
  let headers = writtenHeaders(noCounts);
  try {
    const { counts, refused, replayed } = await write();
    const reply = withReplayed(emptyReply(204, writtenHeaders(counts)), replayed);
    if (refused === undefined) return reply;
    headers = reply.headers ?? [];
    throw partlyRefused(refused);
  } catch (thrown) {
    throw new RefusalWithHeaders(thrown, headers);
  }
}

const writtenHeaders = (written: DecodeCounts): NonNullable<Reply['headers']> => [
  ['X-Prometheus-Remote-Write-Samples-Written', String(written.samples)],
  ['X-Prometheus-Remote-Write-Histograms-Written', String(written.histograms)],
  ['X-Prometheus-Remote-Write-Exemplars-Written', String(written.exemplars)],
];

/**
 * The error for a request of which only a part is stored. Senders log the first KiB of a reply, so it begins
 * with the counts and the first problem.
 */
function partlyRefused({ counts, problems }: RefusedPart): AppError {
  const { samples, histograms, exemplars } = counts;
  const shown = counts.problems > problems.length ? `, the first ${problems.length} of them in problems` : '';
  return new AppError(
    'bad_series',
    `${samples} samples, ${histograms} histograms and ${exemplars} exemplars are refused, the rest is stored. ${problems[0]} (${counts.problems} problems in all${shown})`,
    { details: { problems } },
  );
}
