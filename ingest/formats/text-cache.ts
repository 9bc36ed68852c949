/** Interns repeated texts of a body, such as names: equal bytes return the existing string. */

/** A chunk has rows of some thousand devices in turn: with fewer slots they would evict each other. */
const slotCount = 4096
const textBytesMax = 64

interface Slot {
  bytes: Uint8Array
  text: string
}

/** Keeps a reference to the given bytes, and so to their chunk. */
export class TextCache {
  readonly #slots: (Slot | undefined)[] = Array(slotCount).fill(undefined)

  read(source: Buffer, start: number, end: number): string {
    if (end - start > textBytesMax) return source.toString('utf8', start, end)
    // Names often differ only in their last bytes, so all of them count.
    let hash = end - start
    for (let at = start; at < end; at++) hash = (Math.imul(hash, 31) + (source[at] ?? 0)) | 0
    const index = (hash ^ (hash >>> 8)) & (slotCount - 1)
    const slot = this.#slots[index]
    if (slot !== undefined && isEqual(slot.bytes, source, start, end)) return slot.text
    const text = source.toString('utf8', start, end)
    this.#slots[index] = { bytes: source.subarray(start, end), text }
    return text
  }
}

function isEqual(bytes: Uint8Array, source: Buffer, start: number, end: number): boolean {
  if (bytes.length !== end - start) return false
  for (let at = 0; at < bytes.length; at++) if (bytes[at] !== source[start + at]) return false
  return true
}
