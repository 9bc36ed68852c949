/** Names of devices in bulk bodies. */

/** Names that a device cannot have are rejected here, so that only plausible ones are looked up or created on request. */
const deviceNameCharactersMax = 64
const replacementCharacter = '\uFFFD'

/** Fault of the name. Undefined for a valid one. */
export function deviceNameProblem(name: unknown): string | undefined {
  if (name === undefined || name === null || name === '') return 'is required'
  if (typeof name !== 'string') return 'must be a text'
  if (isTooLong(name)) return `must have at most ${deviceNameCharactersMax} characters`
  return name.includes(replacementCharacter) ? 'must be UTF-8' : undefined
}

/** Some characters take two units, so only a text with many units has to be counted. */
function isTooLong(name: string): boolean {
  if (name.length > 2 * deviceNameCharactersMax) return true
  return name.length > deviceNameCharactersMax && [...name].length > deviceNameCharactersMax
}
