import { expect, it } from 'vitest';
import { barChart } from '../../../bench/chart.ts';

const widthsOf = (svg: string, height: number): number[] =>
  [...svg.matchAll(/<rect [^>]*width="([\d.]+)" height="(\d+)"/g)]
    .filter(([, , rectHeight]) => Number(rectHeight) === height)
    .map(([, width]) => Number(width));

it('draws the bars of a group in proportion to their values, each with its value behind it', () => {
  const svg = barChart('CPU', [
    {
      label: 'first',
      bars: [
        { name: 'a', value: 1 },
        { name: 'b', value: 4 },
      ],
    },
    { label: 'known', bars: [{ name: 'a', value: 0.5 }] },
  ]);
  const [one, four, half] = widthsOf(svg, 14);
  expect(one).toBeCloseTo((four ?? 0) / 4, 0);
  expect(half).toBe(four);
  for (const value of ['1.00', '4.00', '0.50']) expect(svg).toContain(`>${value}</text>`);
});

it('gives each name one color, and shows it in the legend once', () => {
  const bars = [
    { name: 'a', value: 1 },
    { name: 'b', value: 2 },
  ];
  const svg = barChart('CPU', [
    { label: 'first', bars },
    { label: 'known', bars },
  ]);
  expect(widthsOf(svg, 12)).toHaveLength(2);
  expect(new Set([...svg.matchAll(/fill="(#\w{6})"\/>/g)].map(([, color]) => color)).size).toBe(2);
});

it('says why a bar is missing, and lets no text become markup', () => {
  const svg = barChart('a < "b" & c', [
    {
      label: 'first',
      bars: [
        { name: 'a', value: 1 },
        { name: 'b', value: 'not on the PATH' },
      ],
    },
  ]);
  expect(widthsOf(svg, 14)).toHaveLength(1);
  expect(svg).toContain('>not on the PATH</text>');
  expect(svg).toContain('>a &lt; &quot;b&quot; &amp; c</text>');
});
