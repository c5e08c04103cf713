/** Items by what they have in common, in the order in which each was met first. */
export function groupBy<Item, Key>(items: readonly Item[], keyOfItem: (item: Item) => Key): Map<Key, Item[]> {
  const groups = new Map<Key, Item[]>();
  for (const item of items) {
    const key = keyOfItem(item);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [item]);
    else group.push(item);
  }
  return groups;
}
