/**
 * Memory outside the heap that is given back when it has served. Left to the garbage collector it counts as memory of the old
 * generation, of which V8 lets little grow: with bodies of 1 MB the main thread had a mark-compact for every five of them.
 */

/** Nothing can be read of the array any more, nor of others in the same memory. */
export function release({ buffer }: { buffer: ArrayBuffer }): void {
  buffer.transfer(0)
}

/** The same, unless other arrays may lie in the memory. */
export function releaseOwn(bytes: Uint8Array): void {
  if (hasOwnMemory(bytes)) release(bytes)
}

/** Whether the array is all that its memory holds. */
export function hasOwnMemory(bytes: Uint8Array): bytes is Uint8Array<ArrayBuffer> {
  return bytes.buffer instanceof ArrayBuffer && bytes.length === bytes.buffer.byteLength
}
