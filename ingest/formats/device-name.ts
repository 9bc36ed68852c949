/** Names of devices as bulk bodies have them. */

/** A name that no device can have is refused here, so that only plausible ones are looked up, or made on request. */
const deviceNameCharactersMax = 64
const replacementCharacter = '\uFFFD'

/** What is wrong with it; undefined for a name that a device may have. */
export function deviceNameProblem(name: unknown): string | undefined {
  if (name === undefined || name === null || name === '') return 'is required'
  if (typeof name !== 'string') return 'must be a text'
  if (isTooLong(name)) return `must have at most ${deviceNameCharactersMax} characters`
  return name.includes(replacementCharacter) ? 'must be UTF-8' : undefined
}

/** Some characters are two units long, so only a text with many units has to be counted. */
function isTooLong(name: string): boolean {
  if (name.length > 2 * deviceNameCharactersMax) return true
  return name.length > deviceNameCharactersMax && [...name].length > deviceNameCharactersMax
}
