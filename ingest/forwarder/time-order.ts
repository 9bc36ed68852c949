/**
 * Sorts many rows by time. V8 sorts an array of 64-bit integers in a tenth of the time of a sort with a comparison function. So
 * this is a radix sort with the longest digits that fit into such an integer beside a row's rank.
 */

import { detachBuffers } from '../../store/limits/detach-buffers.ts'

const wordBits = 32

/** Indexes of the rows by time (whole microseconds). Rows of one time keep their order. */
export function timeOrder(timesUs: Float64Array): Uint32Array<ArrayBuffer> {
  const rankBits = wordBits - Math.clz32(Math.max(timesUs.length, 2) - 1)
  // 44 bits for a million rows: all times of 200 days differ in their lower digit.
  const radix = 2 ** (2 * wordBits - rankBits)
  const { earliestUs, latestUs } = rangeOf(timesUs)
  const digits = new Float64Array(timesUs.length)
  for (let row = 0; row < digits.length; row++) digits[row] = ((timesUs[row] as number) - earliestUs) % radix
  const order = identity(timesUs.length)
  sortBy(digits, order, rankBits)
  if (latestUs - earliestUs >= radix) {
    for (let row = 0; row < digits.length; row++) {
      digits[row] = Math.floor(((timesUs[row] as number) - earliestUs) / radix)
    }
    sortBy(digits, order, rankBits)
  }
  detachBuffers([digits])
  return order
}

function rangeOf(timesUs: Float64Array): { earliestUs: number; latestUs: number } {
  let earliestUs = Number.POSITIVE_INFINITY
  let latestUs = Number.NEGATIVE_INFINITY
  for (let row = 0; row < timesUs.length; row++) {
    const timeUs = timesUs[row] as number
    if (timeUs < earliestUs) earliestUs = timeUs
    if (timeUs > latestUs) latestUs = timeUs
  }
  return { earliestUs, latestUs }
}

function identity(count: number): Uint32Array<ArrayBuffer> {
  const order = new Uint32Array(count)
  for (let row = 0; row < count; row++) order[row] = row
  return order
}

/** Stable, since the rank in the previous order is the lowest part of each key. */
function sortBy(digits: Float64Array, order: Uint32Array, rankBits: number): void {
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
  const before = order.slice()
  for (let at = 0; at < count; at++) order[at] = before[(words[2 * at] as number) & (ranks - 1)] as number
  detachBuffers([before, keys])
}
