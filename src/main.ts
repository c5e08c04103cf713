#!/usr/bin/env node
/**
 * The first file that runs: it says in one line that a version of Node is too old. So it imports nothing
 * before that, and has no syntax that an old version cannot read. `program.ts` does the rest.
 */
const oldest = '20.19';
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
const isTooOld = major < 20 || (major === 20 && minor < 19);
if (isTooOld) {
  process.stderr.write(
    `millrace: Node.js ${process.versions.node} is too old; ${oldest} or newer is needed (20, 22 and 24 are tested)\n`,
  );
  process.exitCode = 1;
} else {
  void import('./program.ts');
}
