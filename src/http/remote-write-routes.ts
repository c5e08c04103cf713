import { AppError } from '../errors.ts';
import type { Ingest } from '../ingest/request.ts';
import { acceptMediaTypes, type ContentTypeRule } from './content.ts';
import { jsonReply, withReplayed } from './reply.ts';
import type { Route } from './routes.ts';

export interface RemoteWriteRouteOptions {
  readonly ingest: Ingest;
  readonly maxBodyBytes: number;
}

const version1Message = 'prometheus.WriteRequest';
const protoParameter = /;\s*proto\s*=\s*"?([^";\s]*)"?/i;
const acceptProtobuf = acceptMediaTypes(['application/x-protobuf']);

/** Remote Write 2.0 names its message in a parameter; a type without it means 1.0. */
const acceptVersion1: ContentTypeRule = (header) => {
  const mediaType = acceptProtobuf(header);
  const message = protoParameter.exec(header)?.[1] ?? version1Message;
  if (message === version1Message) return mediaType;
  throw new AppError(
    'unsupported_media_type',
    `this route takes the message ${version1Message} (Remote Write 1.0)`,
    {
      details: { supported: [`application/x-protobuf;proto=${version1Message}`] },
    },
  );
};

/** Prometheus Remote Write 1.0. */
export function remoteWriteRoutes({ ingest, maxBodyBytes }: RemoteWriteRouteOptions): Route[] {
  return [
    {
      method: 'POST',
      path: '/v1/prometheus/write',
      permission: 'ingest',
      // Some senders cannot set a header of their own.
      dataset: 'header',
      defaultDataset: 'prometheus',
      body: {
        maxBytes: maxBodyBytes,
        contentType: acceptVersion1,
        // The specification wants snappy and nothing else. vmagent begins with zstd and falls back on 415.
        encodings: ['snappy'],
        reserve: (bytes) => ingest.reserve(bytes),
      },
      handler: async (request) => {
        const { counts, replayed } = await ingest.write({
          tenant: request.tenant,
          dataset: request.dataset,
          format: 'remote-write-1',
          encoding: request.encoding,
          body: request.body,
          mustExist: false,
        });
        return withReplayed(jsonReply({ samples: counts.samples }), replayed);
      },
    },
  ];
}
