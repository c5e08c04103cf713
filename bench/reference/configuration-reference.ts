import { optionGroups } from '../../src/config/config.ts';
import { fileVariableOf, flagOf, type Option } from '../../src/config/option.ts';
import { markdownTable } from '../markdown-table.ts';
import { code, referencePage } from './markdown.ts';

const units = ['TiB', 'GiB', 'MiB', 'KiB'] as const;

/** `67108864` → `64MiB`, as an operator would write it. */
function readableBytes(text: string): string {
  const bytes = Number(text);
  for (const [index, unit] of units.entries()) {
    const size = 1024 ** (units.length - index);
    if (bytes >= size && bytes % size === 0) return `${bytes / size}${unit}`;
  }
  return text;
}

function shownDefault({ env, fallback, fallbackShown }: Option<unknown>): string {
  if (fallbackShown !== undefined) return fallbackShown;
  if (fallback === undefined) return 'none';
  return code(env.endsWith('_BYTES') ? readableBytes(fallback) : fallback);
}

const sentence = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;

/** `docs/reference/configuration.md`: every variable, its default, what it may be and what it does. */
export function configurationReference(): string {
  const groups = Object.entries(optionGroups).flatMap(([title, options]) => [
    `## ${title}`,
    markdownTable(
      ['variable', 'default', 'meaning', 'allowed'],
      options.map((option) => [
        code(option.env),
        shownDefault(option),
        sentence(option.meaning),
        option.allowed.replaceAll('|', '\\|'),
      ]),
      'text',
    ),
  ]);
  const secrets = Object.values(optionGroups)
    .flat()
    .filter(({ secret }) => secret === true)
    .map(({ env }) => fileVariableOf(env));
  const [first] = Object.values(optionGroups).flat();
  return referencePage('Configuration', 'src/config', [
    `Set an option in the environment, or as a flag: \`${first?.env}=0.0.0.0:8000\` or ` +
      `\`${first === undefined ? '' : flagOf(first.env)} 0.0.0.0:8000\`. A flag takes precedence. Prefer the ` +
      'environment for secrets: other users of the machine can see flags. A secret can also be in a file, as ' +
      'Docker and Kubernetes give it: name it with ' +
      `${secrets.map(code).join(', ')}. ` +
      'A value that is not allowed ends the ' +
      'start with exit code 2 and a line that says what is allowed. [Configuration](../operations/configuration.md) ' +
      'tells which options to look at first.',
    ...groups,
  ]);
}
