/** Bounds the number of arguments of a query string for all families. */

/** Django's default for fields of a request (DATA_UPLOAD_MAX_NUMBER_FIELDS). */
export const argumentsMax = 1_000

/** Takes an address as sent. Counting is cheaper than parsing. */
export function hasTooManyArguments(url: string): boolean {
  let count = 1
  for (let at = url.indexOf('&'); at >= 0 && count <= argumentsMax; at = url.indexOf('&', at + 1)) count++
  return count > argumentsMax
}
