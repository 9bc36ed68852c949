/** The distance of a misspelt name from a known one. */

const lengthMax = 40

/** Letters to change, add, remove or swap with the next one (optimal string alignment); `lengthMax` for a longer text. */
export function editDistance(one: string, other: string): number {
  if (one.length > lengthMax || other.length > lengthMax) return lengthMax
  // Distances of each prefix of one to each prefix of the other, row by row.
  const rows: number[][] = [Array.from({ length: other.length + 1 }, (_, at) => at)]
  const at = (row: number, column: number) => rows[row]?.[column] ?? 0
  for (let i = 1; i <= one.length; i++) {
    const row = [i]
    rows.push(row)
    for (let j = 1; j <= other.length; j++) {
      const changed = at(i - 1, j - 1) + (one[i - 1] === other[j - 1] ? 0 : 1)
      const distance = Math.min(at(i - 1, j) + 1, at(i, j - 1) + 1, changed)
      row.push(isSwap(one, i, other, j) ? Math.min(distance, at(i - 2, j - 2) + 1) : distance)
    }
  }
  return at(one.length, other.length)
}

/** True if the last two letters of the prefixes are swapped. */
function isSwap(one: string, i: number, other: string, j: number): boolean {
  return i > 1 && j > 1 && one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1]
}
