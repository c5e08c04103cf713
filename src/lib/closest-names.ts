/**
 * Of more names than these, the others are not compared: it is for a message, and a catalog can have a
 * million.
 */
const maxCandidates = 5000;

/**
 * Names that somebody may have meant: the closest few by edit distance, for error messages. Capital letters
 * do not count.
 */
export function closestNames(
  name: string,
  candidates: Iterable<string>,
  maxDistance = Math.max(1, Math.floor(name.length / 3)),
): readonly string[] {
  const wanted = name.toLowerCase();
  return [...firstOf(candidates)]
    .map((candidate) => ({ candidate, distance: editDistance(wanted, candidate.toLowerCase(), maxDistance) }))
    .filter(({ distance }) => distance <= maxDistance)
    .sort((a, b) => a.distance - b.distance || (a.candidate < b.candidate ? -1 : 1))
    .slice(0, 3)
    .map(({ candidate }) => candidate);
}

function firstOf(candidates: Iterable<string>): ReadonlySet<string> {
  const names = new Set<string>();
  for (const candidate of candidates) {
    names.add(candidate);
    if (names.size >= maxCandidates) break;
  }
  return names;
}

/** Levenshtein's distance by rows; anything above `max` counts as `max + 1`. */
function editDistance(left: string, right: string, max: number): number {
  if (Math.abs(left.length - right.length) > max) return max + 1;
  let previous = Array.from({ length: right.length + 1 }, (_, index) => index);
  for (let row = 1; row <= left.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= right.length; column += 1) {
      const substitution = left[row - 1] === right[column - 1] ? 0 : 1;
      current.push(
        Math.min(
          (previous[column] ?? max) + 1,
          (current[column - 1] ?? max) + 1,
          (previous[column - 1] ?? max) + substitution,
        ),
      );
    }
    previous = current;
  }
  return previous[right.length] ?? max + 1;
}
