import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { packageRoot } from './package-root.ts';

/** Compiles the kernel of remote write from its source, so that no test runs against one built before. */
export const compileKernel = (): WebAssembly.Module => compile('src/decode/kernel');

/** The same for what puts samples in order. */
export const compileSorter = (): WebAssembly.Module => compile('src/ingest/sorter');

function compile(source: string): WebAssembly.Module {
  const root = packageRoot();
  const folder = mkdtempSync(join(tmpdir(), 'millrace-kernel-'));
  try {
    const outFile = join(folder, 'compiled.wasm');
    const compiler = join(root, 'node_modules/assemblyscript/bin/asc.js');
    const config = join(root, source, 'asconfig.json');
    execFileSync(process.execPath, [compiler, '--config', config, '--outFile', outFile], { cwd: root });
    return new WebAssembly.Module(readFileSync(outFile));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
