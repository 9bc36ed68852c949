/** SQL's LIKE on the whole text: `%` is any run of characters, `_` one of them, and nothing escapes either. */

const any = '%'
const one = '_'

/**
 * The test for one pattern. Runs of `%` are merged and a pattern longer than the text is not tried, so the cost is
 * bounded by the text, whatever the pattern.
 */
export function createLike(pattern: string): (text: string) => boolean {
  const parts = [...pattern].filter((character, index, all) => character !== any || all[index - 1] !== any)
  const lengthMin = parts.filter(character => character !== any).length
  return text => {
    const characters = [...text]
    return characters.length >= lengthMin && fits(parts, characters)
  }
}

/** Takes as little as possible for each `%`, and one more whenever the rest does not fit; only the last one is retried. */
function fits(parts: readonly string[], characters: readonly string[]): boolean {
  let part = 0
  let at = 0
  let lastAny = -1
  let retryAt = 0
  while (at < characters.length) {
    if (parts[part] === any) {
      lastAny = part++
      retryAt = at
    } else if (part < parts.length && (parts[part] === one || parts[part] === characters[at])) {
      part++
      at++
    } else if (lastAny >= 0) {
      part = lastAny + 1
      at = ++retryAt
    } else {
      return false
    }
  }
  return part === parts.length || (part === parts.length - 1 && parts[part] === any)
}
