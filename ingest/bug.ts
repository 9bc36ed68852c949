/** A state that must not be: the work stops, and nobody catches this to carry on. `throw bug(…)` formats on failure only. */
export function bug(message: string): Error {
  return new Error(`BUG: ${message}`)
}
