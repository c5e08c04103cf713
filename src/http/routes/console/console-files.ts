import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { AppError } from '../../../errors.ts';
import { emptyReply, type Reply } from '../../server/reply.ts';
import type { PublicRequest } from '../../server/route.ts';

/** How a file is stored: as it is, or compressed by the build. */
type Encoding = 'br' | 'gzip' | 'identity';

/** One file that the build made; its path is relative to the folder, with forward slashes. */
export interface BuiltFile {
  readonly path: string;
  readonly bytes: Uint8Array;
}

interface Stored {
  readonly bytes: Uint8Array;
  readonly etag: string;
}

type Encodings = ReadonlyMap<Encoding, Stored>;

const contentTypes: ReadonlyMap<string, string> = new Map([
  ['.html', 'text/html; charset=utf-8'],
  ['.js', 'text/javascript; charset=utf-8'],
  ['.css', 'text/css; charset=utf-8'],
  ['.svg', 'image/svg+xml'],
  ['.txt', 'text/plain; charset=utf-8'],
]);

const suffixes: ReadonlyArray<readonly [suffix: string, encoding: Encoding]> = [
  ['.br', 'br'],
  ['.gz', 'gzip'],
];

/**
 * What the page may do. Telemetry is hostile: nothing but the files of the service runs or styles, the page
 * connects to nothing but the service, no text becomes HTML (Trusted Types), and no other site shows the page
 * in a frame.
 */
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ');

const pageHeaders = [
  ['Content-Security-Policy', contentSecurityPolicy],
  // Not `no-referrer`, with which forms of the page would send `Origin: null`.
  ['Referrer-Policy', 'same-origin'],
  ['Cross-Origin-Opener-Policy', 'same-origin'],
  ['Cross-Origin-Resource-Policy', 'same-origin'],
] as const;

/** Names of assets hold a hash of what is in them. */
const assetsFolder = 'assets/';
const immutable = 'public, max-age=31536000, immutable';

/**
 * The built console: its page, and the scripts and styles that the page loads. The build has compressed each
 * file; they are read once, at the start, and take 1 MB of memory.
 */
export class ConsoleFiles {
  readonly #files: ReadonlyMap<string, Encodings>;

  private constructor(files: ReadonlyMap<string, Encodings>) {
    this.#files = files;
  }

  /** @returns undefined if the folder does not exist: the console was not built */
  static async load(folder: string): Promise<ConsoleFiles | undefined> {
    let names: string[];
    try {
      names = await readdir(folder, { recursive: true });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      throw error;
    }
    const files = names.filter((name) => extname(name) !== '');
    return ConsoleFiles.of(
      await Promise.all(
        files.map(async (name) => ({
          path: name.replaceAll('\\', '/'),
          bytes: await readFile(join(folder, name)),
        })),
      ),
    );
  }

  static of(files: readonly BuiltFile[]): ConsoleFiles {
    const byPath = new Map<string, Map<Encoding, Stored>>();
    for (const { path, bytes } of files) {
      const [suffix, encoding] = suffixes.find(([end]) => path.endsWith(end)) ?? (['', 'identity'] as const);
      const name = suffix === '' ? path : path.slice(0, -suffix.length);
      const encodings = byPath.get(name) ?? new Map<Encoding, Stored>();
      const digest = createHash('sha256').update(bytes).digest('base64url').slice(0, 22);
      byPath.set(name, encodings.set(encoding, { bytes, etag: `"${digest}"` }));
    }
    return new ConsoleFiles(byPath);
  }

  /** The page, which is the same under each of its paths. */
  page(request: PublicRequest): Reply {
    const reply = this.#reply('index.html', request, 'no-cache', 'Accept, Accept-Encoding');
    return { ...reply, headers: [...(reply.headers ?? []), ...pageHeaders] };
  }

  /**
   * A script, style or image of the page.
   * @throws AppError `not_found`
   */
  asset(name: string, request: PublicRequest): Reply {
    return this.#reply(assetsFolder + name, request, immutable, 'Accept-Encoding');
  }

  /** @throws AppError `not_found` */
  licenses(request: PublicRequest): Reply {
    return this.#reply('licenses.txt', request, 'no-cache', 'Accept-Encoding');
  }

  #reply(path: string, request: PublicRequest, cacheControl: string, vary: string): Reply {
    const encodings = this.#files.get(path);
    const encoding = encodings && chooseEncoding(encodings, request.header('accept-encoding'));
    const file = encoding && encodings?.get(encoding);
    if (encoding === undefined || file === undefined)
      throw new AppError('not_found', 'no file of the console has this name');
    const headers = [
      ['ETag', file.etag],
      ['Vary', vary],
    ] as const;
    if (matches(request.header('if-none-match'), file.etag)) {
      return { ...emptyReply(304, headers), cacheControl };
    }
    return {
      status: 200,
      contentType: contentTypes.get(extname(path)) ?? 'application/octet-stream',
      body: [file.bytes],
      cacheControl,
      headers: encoding === 'identity' ? headers : [...headers, ['Content-Encoding', encoding]],
    };
  }
}

/** Whether a browser asks for a page: programs name no HTML, or prefer something else. */
export const acceptsHtml = (accept: string): boolean =>
  accept.split(',').some((range) => range.split(';', 1)[0]?.trim().toLowerCase() === 'text/html');

/** The smallest encoding that the client takes (RFC 9110, section 12.5.3). */
function chooseEncoding(encodings: Encodings, accepted: string): Encoding {
  const names = new Set(
    accepted
      .split(',')
      .map((part) => part.toLowerCase().replaceAll(' ', ''))
      .filter((part) => !/;q=0(?:\.0{0,3})?$/.test(part))
      .map((part) => part.split(';', 1)[0]),
  );
  for (const [, encoding] of suffixes) if (names.has(encoding) && encodings.has(encoding)) return encoding;
  return 'identity';
}

/** `If-None-Match` (RFC 9110, section 13.1.2): a list of tags, some of which a proxy made weak. */
const matches = (header: string, etag: string): boolean =>
  header !== '' && header.split(',').some((tag) => tag.trim().replace(/^W\//, '') === etag);
