import {
  elementScroll,
  observeElementOffset,
  observeElementRect,
  type VirtualItem,
  Virtualizer,
} from '@tanstack/virtual-core';
import type { RefObject } from 'preact';
import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';

export interface VirtualRows {
  /** The element that scrolls. */
  readonly scroller: RefObject<HTMLDivElement | null>;
  readonly virtualizer: Virtualizer<HTMLDivElement, HTMLElement>;
  readonly items: readonly VirtualItem[];
}

/** Only rows that are in sight, and some around them, are elements; heights may differ. */
export function useVirtualRows(
  count: number,
  estimatedHeight: number,
  keyOf: (index: number) => string | number,
  overscan = 10,
): VirtualRows {
  const scroller = useRef<HTMLDivElement>(null);
  const [, redraw] = useState(0);
  const options = {
    count,
    getItemKey: keyOf,
    getScrollElement: () => scroller.current,
    estimateSize: () => estimatedHeight,
    overscan,
    scrollToFn: elementScroll,
    observeElementRect,
    observeElementOffset,
    onChange: () => redraw((version) => version + 1),
  };
  const virtualizer = useMemo(() => new Virtualizer<HTMLDivElement, HTMLElement>(options), []);
  virtualizer.setOptions(options);
  useLayoutEffect(() => virtualizer._didMount(), []);
  useLayoutEffect(() => virtualizer._willUpdate());
  return { scroller, virtualizer, items: virtualizer.getVirtualItems() };
}
