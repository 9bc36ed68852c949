/**
 * The order of many rows by time. V8 sorts an array of 64-bit integers in a tenth of the time that it takes with a function
 * that compares, so this is a radix sort whose digits are as long as such an integer has room for beside a row's rank.
 */

const wordBits = 32

/** Indexes of the rows by time (whole microseconds), then by series number; rows with the same of both in the order given. */
export function timeOrder(timesUs: Float64Array, seriesNumbers: Float64Array): Uint32Array {
  const rankBits = wordBits - Math.clz32(Math.max(timesUs.length, 2) - 1)
  // 44 bits for a million rows: all times of 200 days differ in their lower digit.
  const radix = 2 ** (2 * wordBits - rankBits)
  const { lower, upper } = timeDigits(timesUs, radix)
  const order = sortedBy(seriesNumbers, identity(timesUs.length), rankBits)
  const byLower = sortedBy(lower, order, rankBits)
  return upper === undefined ? byLower : sortedBy(upper, byLower, rankBits)
}

/** Of the times since the earliest; without an upper digit when that is 0 everywhere. */
function timeDigits(timesUs: Float64Array, radix: number): { lower: Float64Array; upper?: Float64Array } {
  let earliestUs = Number.POSITIVE_INFINITY
  let latestUs = Number.NEGATIVE_INFINITY
  for (const timeUs of timesUs) {
    earliestUs = Math.min(earliestUs, timeUs)
    latestUs = Math.max(latestUs, timeUs)
  }
  const lower = timesUs.map(timeUs => timeUs - earliestUs)
  if (latestUs - earliestUs < radix) return { lower }
  const upper = lower.map(sinceUs => Math.floor(sinceUs / radix))
  return { lower: lower.map((sinceUs, row) => sinceUs - (upper[row] as number) * radix), upper }
}

function identity(count: number): Uint32Array {
  const order = new Uint32Array(count)
  for (let row = 0; row < count; row++) order[row] = row
  return order
}

/** Stable, since the rank in the order before is the lowest part of what is sorted. */
function sortedBy(digits: Float64Array, order: Uint32Array, rankBits: number): Uint32Array {
  const count = order.length
  const keys = new BigUint64Array(count)
  // Each key as two words, the lower one first, as on x64 and arm64.
  const words = new Uint32Array(keys.buffer)
  const ranks = 2 ** rankBits
  const lowerDigits = 2 ** (wordBits - rankBits)
  for (let rank = 0; rank < count; rank++) {
    const digit = digits[order[rank] as number] as number
    const upper = Math.floor(digit / lowerDigits)
    words[2 * rank] = (digit - upper * lowerDigits) * ranks + rank
    words[2 * rank + 1] = upper
  }
  keys.sort()
  const sorted = new Uint32Array(count)
  for (let at = 0; at < count; at++) sorted[at] = order[(words[2 * at] as number) & (ranks - 1)] as number
  return sorted
}
