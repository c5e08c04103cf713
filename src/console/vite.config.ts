import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, gzipSync, constants as zlib } from 'node:zlib';
import { defineConfig, type Plugin } from 'vite';

const root = new URL('.', import.meta.url).pathname;
const modules = new URL('../../node_modules/', import.meta.url).pathname;
const outDir = new URL('../../dist/console/', import.meta.url).pathname;

/** Below this, compression saves no packet. */
const minCompressedBytes = 1024;

/** Writes `licenses.txt`: the licence of each package of which something is in the bundle. */
function licenses(): Plugin {
  return {
    name: 'licenses',
    generateBundle(_, bundle) {
      const ids = Object.values(bundle).flatMap((file) => (file.type === 'chunk' ? file.moduleIds : []));
      const names = ids.flatMap((id) => /\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(id)?.[1] ?? []);
      // The styles of this one are in the bundle, too, and belong to no chunk's modules once they are a file.
      const source = [...new Set(names)]
        .sort()
        .map(licenseOf)
        .join(`\n${'-'.repeat(72)}\n\n`);
      this.emitFile({ type: 'asset', fileName: 'licenses.txt', source });
    },
  };
}

/** @throws Error if a package has no licence file: then it may not be shipped */
function licenseOf(name: string): string {
  const folder = join(modules, name);
  const { version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
    version: string;
    license: string;
  };
  const file = readdirSync(folder).find((each) => /^licen[cs]e/i.test(each));
  if (file === undefined) throw new Error(`the package ${name} has no licence file`);
  return `${name} ${version} (${license})\n\n${readFileSync(join(folder, file), 'utf8').trim()}\n`;
}

/** Writes each file again as Brotli and gzip, so that the service sends them as they are. */
function compress(): Plugin {
  return {
    name: 'compress',
    apply: 'build',
    closeBundle() {
      for (const entry of readdirSync(outDir, { recursive: true, withFileTypes: true })) {
        if (!entry.isFile()) continue;
        const path = join(entry.parentPath, entry.name);
        const bytes = readFileSync(path);
        if (bytes.byteLength < minCompressedBytes) continue;
        const params = {
          // Quality 11 takes three times the CPU, 0.9 s, for 2 % fewer bytes.
          [zlib.BROTLI_PARAM_QUALITY]: 10,
          [zlib.BROTLI_PARAM_SIZE_HINT]: bytes.byteLength,
        };
        writeFileSync(`${path}.br`, brotliCompressSync(bytes, { params }));
        writeFileSync(`${path}.gz`, gzipSync(bytes, { level: 9 }));
      }
    },
  };
}

/** The service that `npm run dev:console` asks. The Host stays that of the page, for the CSRF rule. */
const service = { target: 'http://127.0.0.1:8000', changeOrigin: false };

export default defineConfig({
  root,
  // Relative, so that a proxy may serve the console below a path of its own.
  base: './',
  publicDir: false,
  appType: 'spa',
  logLevel: 'warn',
  build: {
    outDir,
    emptyOutDir: true,
    // What the code uses: light-dark(), nesting, popover.
    target: ['chrome125', 'firefox129', 'safari17.5'],
    // The content security policy allows neither `data:` scripts nor inline ones.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    // The compression takes most of the time, as it should.
    rolldownOptions: { checks: { pluginTimings: false } },
  },
  server: { host: '127.0.0.1', proxy: { '/api': service, '/v1': service } },
  plugins: [licenses(), compress()],
});
