import { useEffect, useState } from 'preact/hooks';
import { Icon } from './icon.tsx';

interface CopyProps {
  /** Asked for when it is clicked. */
  readonly text: () => string;
  readonly label: string;
  /** Shows the icon alone. */
  readonly isCompact?: boolean;
}

/** Copies a text, and says for a moment that it has. */
export function CopyButton({ text, label, isCompact = false }: CopyProps) {
  const [state, setState] = useState<'idle' | 'copied' | 'failed'>('idle');
  useEffect(() => {
    if (state === 'idle') return undefined;
    const timer = setTimeout(() => setState('idle'), 1500);
    return () => clearTimeout(timer);
  }, [state]);
  const copy = () => {
    copyText(text()).then(
      () => setState('copied'),
      () => setState('failed'),
    );
  };
  const said = state === 'idle' ? label : state === 'copied' ? 'Copied' : 'Copying is not allowed here';
  return (
    <button type="button" class="button small quiet" aria-label={said} title={said} onClick={copy}>
      <Icon name={state === 'copied' ? 'check' : 'copy'} />
      {isCompact ? '' : said}
    </button>
  );
}

/** The clipboard of browsers needs HTTPS or localhost; elsewhere the older way is taken. */
export async function copyText(text: string): Promise<void> {
  if (navigator.clipboard !== undefined) {
    await navigator.clipboard.writeText(text);
    return;
  }
  const area = document.createElement('textarea');
  area.value = text;
  area.className = 'visually-hidden';
  document.body.append(area);
  area.select();
  const isCopied = document.execCommand('copy');
  area.remove();
  if (!isCopied) throw new Error('not allowed');
}
