/** Tells a parameter of the query string that a path does not have, and the one that was probably meant. */

/** What caches are avoided with. */
const cacheBuster = '_'
/** A longer name is compared and shown by its beginning. */
const nameLengthMax = 40

/** Names that other services have for a parameter. */
const otherNames: Readonly<Record<string, readonly string[]>> = {
  from: ['start'],
  since: ['start'],
  begin: ['start'],
  to: ['end'],
  until: ['end'],
  till: ['end'],
  stop: ['end'],
}

/** A sentence about the first unknown name; undefined when all are known. */
export function unknownParameter(query: object, known: readonly string[]): string | undefined {
  const unknown = Object.keys(query).find(name => name !== cacheBuster && !known.includes(name))
  if (unknown === undefined) return undefined
  const name = unknown.slice(0, nameLengthMax)
  const distances = known.map(each => editDistance(name, each))
  const others = Object.hasOwn(otherNames, name) ? otherNames[name] : undefined
  const nearest = others?.find(each => known.includes(each)) ?? known[distances.indexOf(Math.min(...distances))]
  return nearest === undefined ? `unknown parameter ${name}` : `unknown parameter ${name}; did you mean ${nearest}?`
}

/** Characters to insert, remove or replace (Levenshtein). */
function editDistance(a: string, b: string): number {
  let previous = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      const replaced = (previous[j - 1] as number) + (a[i - 1] === b[j - 1] ? 0 : 1)
      row.push(Math.min(replaced, (previous[j] as number) + 1, (row[j - 1] as number) + 1))
    }
    previous = row
  }
  return previous[b.length] as number
}
