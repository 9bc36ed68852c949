/** The fields that a reading may have, in all their spellings, and the names of those that are not stored. */

export type Fields = Record<string, unknown>

/** The logger API writes the first of each, a CSV header the second. */
export const voltageNames = ['battery voltage', 'battery_voltage'] as const
export const percentageNames = ['battery percentage', 'battery_percentage'] as const

const known: ReadonlySet<string> = new Set([
  'device',
  'timestamp',
  'temperature',
  'humidity',
  'pressure',
  ...voltageNames,
  ...percentageNames,
])

/** Whether a field has a column, or says whose the reading is and of when. */
export function isColumnField(name: string): boolean {
  return known.has(name)
}

/** Which of two spellings a reading has; of both it is the last one, as with a name that stands twice. */
export function spellingIn(fields: Fields, [spaced, plain]: readonly [string, string]): string {
  if (fields[plain] === undefined) return spaced
  if (fields[spaced] === undefined) return plain
  const names = Object.keys(fields)
  return names.indexOf(spaced) > names.indexOf(plain) ? spaced : plain
}

const namesMax = 20
const nameCharactersMax = 64

/**
 * Names of fields that are not stored, the first ones and not at any length; undefined where there are none. `further`: those
 * without a column that are. `metrics`: what the device lists. A null is no value that would be lost.
 */
export function ignoredNames(
  fields: Fields,
  further: ReadonlySet<string>,
  metrics: readonly string[] | null,
): string[] | undefined {
  let names: string[] | undefined
  for (const name in fields) {
    if (known.has(name) ? isListed(name, metrics) : further.has(name)) continue
    if (fields[name] === null || fields[name] === undefined) continue
    names ??= []
    names.push(shortenedName(name))
    if (names.length === namesMax) break
  }
  return names
}

/** A name that a sender chose, as it is answered. */
export function shortenedName(name: string): string {
  return name.length > nameCharactersMax ? `${name.slice(0, nameCharactersMax - 1).toWellFormed()}…` : name
}

function isListed(name: string, metrics: readonly string[] | null): boolean {
  return metrics === null || name === 'device' || name === 'timestamp' || metrics.includes(name.replace(' ', '_'))
}
