/** Names of time zones. */

/** Whether it is one that this Node knows, as `Europe/Berlin`. */
export function isTimeZone(name: string): boolean {
  try {
    return Intl.DateTimeFormat('en', { timeZone: name }) !== undefined
  } catch {
    return false
  }
}
