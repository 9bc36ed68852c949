/** What a check has found, for people. */

export function sentenceOf(errors: Readonly<Record<string, string>>): string {
  return Object.entries(errors)
    .map(([field, reason]) => `${field} ${reason}`)
    .join('; ')
}
