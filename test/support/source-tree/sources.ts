import { join, relative } from 'node:path';
import type { SourceFile } from 'typescript/unstable/ast';
import { createVirtualFileSystem } from 'typescript/unstable/fs';
import { API } from 'typescript/unstable/sync';

/** What is to be known of each source file; its path is relative to the root, with forward slashes. */
type Describe<Description> = (source: SourceFile, path: string) => Description;

/** Of the project at `root`, and of its console, which has a `tsconfig.json` of its own. */
export const describeProject = <Description>(root: string, describe: Describe<Description>): Description[] =>
  parse(new API({ cwd: root }), root, ['tsconfig.json', 'src/console/tsconfig.json'], describe);

/** Of files given as text, for tests of the rules themselves. */
export function describeText<Description>(
  files: Readonly<Record<string, string>>,
  describe: Describe<Description>,
): Description[] {
  const root = '/fixture';
  const compilerOptions = { noLib: true, types: [], module: 'nodenext', noEmit: true };
  const onDisk: Record<string, string> = {
    [`${root}/tsconfig.json`]: JSON.stringify({ compilerOptions, include: ['src', 'workers', 'bench'] }),
  };
  for (const [path, text] of Object.entries(files)) onDisk[`${root}/${path}`] = text;
  const api = new API({ cwd: root, fs: createVirtualFileSystem(onDisk) });
  return parse(api, root, ['tsconfig.json'], describe);
}

function parse<Description>(
  api: API,
  root: string,
  configurations: readonly string[],
  describe: Describe<Description>,
): Description[] {
  try {
    const snapshot = api.updateSnapshot({ openProjects: configurations.map((name) => join(root, name)) });
    return snapshot.getProjects().flatMap((project) =>
      project.rootFiles.map((file) => {
        const source = project.program.getSourceFile(file);
        if (source === undefined) throw new Error(`TypeScript has no source for ${file}`);
        return describe(source, relative(root, file));
      }),
    );
  } finally {
    api.close();
  }
}
