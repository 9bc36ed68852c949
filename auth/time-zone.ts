/** Checks names of time zones. */

/** True for a name that Node knows, such as `Europe/Berlin`. */
export function isTimeZone(name: string): boolean {
  try {
    return Intl.DateTimeFormat('en', { timeZone: name }) !== undefined
  } catch {
    return false
  }
}
