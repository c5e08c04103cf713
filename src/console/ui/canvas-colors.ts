/** Colours of the design system for a canvas, which does not know variables of CSS. */
export function canvasColors(within: HTMLElement, names: readonly string[]): (name: string) => string {
  const probe = document.createElement('span');
  probe.hidden = true;
  within.append(probe);
  const style = getComputedStyle(probe);
  const found = names.map((name) => {
    probe.style.color = `var(${name})`;
    return [name, style.color] as const;
  });
  probe.remove();
  const colors = new Map(found);
  return (name) => colors.get(name) ?? '';
}
