/** Converts a missing number for JSON: `JSON.stringify` would do the same, but silently. */
export function orNull(value: number): number | null {
  return Number.isNaN(value) ? null : value
}
