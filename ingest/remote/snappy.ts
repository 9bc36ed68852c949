/**
 * Blocks of Snappy (format_description.txt of google/snappy), in which Prometheus compresses its bodies. The packages of the
 * registries either leave the length of the result unchecked or bring a binary for each platform.
 */

/** Undefined for bytes that are not a whole block; `too long` before anything is decoded. Time and memory follow `bytesMax`. */
export function readSnappy(block: Uint8Array, bytesMax: number): Buffer | 'too long' | undefined {
  const head = readLength(block)
  if (head === undefined) return undefined
  if (head.length > bytesMax) return 'too long'
  const whole = Buffer.allocUnsafeSlow(head.length)
  return fill(whole, block, head.end) ? whole : undefined
}

/** At most 32 bits in groups of 7, the lowest first. */
function readLength(block: Uint8Array): { length: number; end: number } | undefined {
  let length = 0
  for (let at = 0; at < 5 && at < block.length; at++) {
    const byte = block[at] as number
    length += (byte & 0x7f) * 2 ** (7 * at)
    if (byte < 0x80) return length < 2 ** 32 ? { length, end: at + 1 } : undefined
  }
  return undefined
}

/** Returns false unless the elements fill the result exactly. */
function fill(whole: Buffer, block: Uint8Array, start: number): boolean {
  let at = start
  let end = 0
  while (at < block.length) {
    const tag = block[at++] as number
    const extra = extraBytes(tag)
    if (at + extra > block.length) return false
    const number = littleEndian(block, at, extra)
    at += extra
    const isLiteral = (tag & 3) === 0
    const length = lengthOf(tag, number)
    if (end + length > whole.length || (isLiteral && at + length > block.length)) return false
    if (isLiteral) {
      whole.set(block.subarray(at, at + length), end)
      at += length
    } else if (!repeat(whole, end, offsetOf(tag, number), length)) return false
    end += length
  }
  return end === whole.length
}

/** A copy may overlap with its own result, which repeats it. Returns false for an offset before the start. */
function repeat(whole: Buffer, end: number, offset: number, length: number): boolean {
  if (offset === 0 || offset > end) return false
  for (let at = end; at < end + length; at++) whole[at] = whole[at - offset] as number
  return true
}

function lengthOf(tag: number, number: number): number {
  const kind = tag & 3
  if (kind === 1) return ((tag >>> 2) & 7) + 4
  return kind === 0 && tag >>> 2 >= literalsInTag ? number + 1 : (tag >>> 2) + 1
}

function offsetOf(tag: number, number: number): number {
  return (tag & 3) === 1 ? (tag >>> 5) * 256 + number : number
}

/** Shorter literals have their length in the tag. */
const literalsInTag = 60

/** Bytes of the length of a literal, or of the offset of a copy, behind the tag. */
function extraBytes(tag: number): number {
  const kind = tag & 3
  if (kind === 0) return Math.max(0, (tag >>> 2) - literalsInTag + 1)
  return kind === 3 ? 4 : kind
}

function littleEndian(bytes: Uint8Array, at: number, count: number): number {
  let value = 0
  for (let index = 0; index < count; index++) value += (bytes[at + index] as number) * 256 ** index
  return value
}
