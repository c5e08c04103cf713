import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../lib/package-root.ts';

/** A block between two lines of backticks. */
export interface Fence {
  /** First word behind the backticks. */
  readonly language: string;
  /** The other words: they say what the tests do with the block. */
  readonly tags: readonly string[];
  readonly text: string;
  /** Line of its first backticks, from 1. */
  readonly line: number;
  /** What an HTML comment right before it says. */
  readonly comment: string | undefined;
  /** Text of the block right behind it that is tagged as its output. */
  readonly output: string | undefined;
}

const folders = ['docs', 'bench'];

/** Paths of all pages of the project, from its root. */
export function markdownPages(): string[] {
  const below = (folder: string): string[] =>
    readdirSync(join(packageRoot(), folder), { withFileTypes: true, recursive: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name).slice(packageRoot().length).replace(/^\//, ''));
  const top = readdirSync(packageRoot());
  return [...top, ...folders.flatMap(below)].filter((path) => path.endsWith('.md')).toSorted();
}

export const readPage = (path: string): string => readFileSync(join(packageRoot(), path), 'utf8');

const fencePattern = /^([ \t]*)```([^\n`]*)\n(.*?)^\1```[ \t]*$/gms;
const commentPattern = /<!--\s*([^>]*?)\s*-->\s*$/;

export function fencesOf(page: string): Fence[] {
  const found = [...page.matchAll(fencePattern)].map((match) => {
    const [whole, indent = '', info = '', body = ''] = match;
    const [language = '', ...tags] = info.trim().split(/\s+/);
    const text = body
      .split('\n')
      .map((line) => line.slice(line.startsWith(indent) ? indent.length : 0))
      .join('\n');
    return { language, tags, text, start: match.index, end: match.index + whole.length };
  });
  return found.map(({ language, tags, text, start }, index) => {
    const before = page.slice(found[index - 1]?.end ?? 0, start);
    const next = found[index + 1];
    const isOutput =
      next?.tags.includes('output') === true && page.slice(found[index]?.end ?? 0, next.start).trim() === '';
    return {
      language,
      tags,
      text,
      line: page.slice(0, start).split('\n').length,
      comment: commentPattern.exec(before)?.[1],
      output: isOutput ? next.text : undefined,
    };
  });
}

/** The page with an empty line for each line of a fence. */
export const withoutFences = (page: string): string =>
  page.replaceAll(fencePattern, (fence) => fence.replaceAll(/.+/g, ''));

/**
 * The anchors that GitHub makes of headings: lower case, blanks as hyphens, other punctuation
 * left out, then numbered.
 */
export function anchorsOf(page: string): Set<string> {
  const anchors = new Set<string>();
  for (const [, heading = ''] of withoutFences(page).matchAll(/^#{1,6} +(.*?)\s*#*$/gm)) {
    const text = heading.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1').replaceAll('`', '');
    const slug = text
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\p{M}_ -]/gu, '')
      .replaceAll(' ', '-');
    let anchor = slug;
    for (let number = 1; anchors.has(anchor); number += 1) anchor = `${slug}-${number}`;
    anchors.add(anchor);
  }
  return anchors;
}

/** Targets of links and pictures, but for those in code. */
export function linksOf(page: string): string[] {
  const prose = withoutFences(page).replaceAll(/`[^`\n]*`/g, '');
  return [...prose.matchAll(/\]\(\s*<?([^)\s>]+)>?[^)]*\)/g)].map(([, target = '']) => target);
}
