import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { packageRoot } from '../lib/package-root.ts';

/** Compiles the remote write kernel from its source, so that tests never run an old build. */
export const compileKernel = (): WebAssembly.Module => compile('src/decode/remote-write/kernel');

/** The same for the sample sorter. */
export const compileSorter = (): WebAssembly.Module => compile('src/drain/sorter');

const compilerFolder = join(packageRoot(), 'node_modules/assemblyscript');

/** Compiles once per state of the source: it takes eight CPU seconds, and a dozen test files need it. */
function compile(source: string): WebAssembly.Module {
  const compiled = join(tmpdir(), `millrace-kernel-${digestOf(source)}.wasm`);
  if (!existsSync(compiled)) compileTo(compiled, source);
  return new WebAssembly.Module(readFileSync(compiled));
}

/** A digest of everything that the result depends on. */
function digestOf(source: string): string {
  const folder = join(packageRoot(), source);
  const files = readdirSync(folder).sort();
  const hash = createHash('sha256').update(readFileSync(join(compilerFolder, 'package.json')));
  for (const file of files) hash.update(`${file}\n`).update(readFileSync(join(folder, file)));
  return hash.digest('hex').slice(0, 16);
}

/** Atomic, even if several processes do it at the same time. */
function compileTo(compiled: string, source: string): void {
  const cwd = packageRoot();
  const folder = mkdtempSync(`${compiled}-`);
  try {
    const outFile = join(folder, 'compiled.wasm');
    const compiler = join(compilerFolder, 'bin/asc.js');
    const config = join(source, 'asconfig.json');
    execFileSync(process.execPath, [compiler, '--config', config, '--outFile', outFile], { cwd });
    renameSync(outFile, compiled);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
