/** How many arguments a query string may have, in every family of routes; each says so in its own shape. */

/** Django's default for fields of a request (DATA_UPLOAD_MAX_NUMBER_FIELDS). */
export const argumentsMax = 1_000

/** Of an address as sent. Counted, not parsed: what is too much is not worth more. */
export function hasTooManyArguments(url: string): boolean {
  let count = 1
  for (let at = url.indexOf('&'); at >= 0 && count <= argumentsMax; at = url.indexOf('&', at + 1)) count++
  return count > argumentsMax
}
