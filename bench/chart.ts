/** A group of bars, such as the receivers of one workload. */
export interface BarGroup {
  readonly label: string;
  /** A bar with a text instead of a value was not measured; the text says why. */
  readonly bars: ReadonlyArray<{ readonly name: string; readonly value: number | string }>;
}

const width = 760;
const labelWidth = 165;
const valueWidth = 150;
const barHeight = 16;
const groupGap = 14;
const headHeight = 62;
/** Colors of medium lightness, which differ from each other and from a light or dark page. */
const colors = ['#2f81f7', '#d29922', '#a371f7', '#3fb950'];

/**
 * Draws horizontal bars as SVG, in groups from top to bottom, with their values. The longest bar of each
 * group is its largest value, since groups can differ fiftyfold. Each name has its own color in the legend.
 */
export function barChart(title: string, groups: readonly BarGroup[]): string {
  const names = [...new Set(groups.flatMap(({ bars }) => bars.map(({ name }) => name)))];
  const colorOf = (name: string): string => colors[names.indexOf(name) % colors.length] ?? '';
  const parts = [
    text(0, 18, title, 'font-weight="600" font-size="15"'),
    ...names.flatMap((name, index) => legendEntry(name, index, colorOf(name))),
  ];
  let top = headHeight;
  for (const { label, bars } of groups) {
    const largest = Math.max(...bars.map(({ value }) => value).filter(isNumber));
    const scale = (width - labelWidth - valueWidth) / largest;
    parts.push(text(0, top + (bars.length * barHeight) / 2 + 4, label, ''));
    for (const { name, value } of bars) {
      parts.push(...bar(top, value, scale, colorOf(name)));
      top += barHeight;
    }
    top += groupGap;
  }
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${top}" width="${width}" height="${top}"`,
    `  font-family="system-ui, sans-serif" font-size="13" fill="#808890" role="img" aria-label="${escapeXml(title)}">`,
    ...parts.map((part) => `  ${part}`),
    '</svg>',
    '',
  ].join('\n');
}

function bar(top: number, value: number | string, scale: number, color: string): string[] {
  if (!isNumber(value)) return [text(labelWidth, top + 12, value, 'font-size="11"')];
  const length = Math.max(1, value * scale);
  return [
    `<rect x="${labelWidth}" y="${top}" width="${length.toFixed(1)}" height="${barHeight - 2}" fill="${color}"/>`,
    text(labelWidth + length + 6, top + 12, value.toFixed(2), 'font-size="12"'),
  ];
}

function legendEntry(name: string, index: number, color: string): string[] {
  const left = labelWidth + index * 190;
  return [`<rect x="${left}" y="32" width="12" height="12" fill="${color}"/>`, text(left + 18, 43, name, '')];
}

const text = (x: number, y: number, content: string, attributes: string): string =>
  `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}"${attributes === '' ? '' : ` ${attributes}`}>${escapeXml(content)}</text>`;

const isNumber = (value: number | string): value is number => typeof value === 'number';

const escapeXml = (content: string): string =>
  content.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
