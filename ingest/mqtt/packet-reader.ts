/** Cuts the bytes of a connection into MQTT packets. What it holds is bounded by the limits of the packet types. */

import { PacketError } from './packet-error.ts'

/** From the upper half of a packet's first byte. */
export const packetTypes = {
  connect: 1,
  connack: 2,
  publish: 3,
  puback: 4,
  pubrel: 6,
  subscribe: 8,
  suback: 9,
  unsubscribe: 10,
  pingreq: 12,
  pingresp: 13,
  disconnect: 14,
  auth: 15,
} as const

export interface RawPacket {
  /** From the first byte on. */
  bytes: Buffer
  /** Where the part behind the length begins. */
  start: number
  /** False when only the beginning is here, because the packet is larger than its limit. */
  isWhole: boolean
}

export interface PacketLimit {
  /** Of the whole packet. */
  bytesMax: number
  /** What is done with a larger one. */
  beyond: 'refuse' | 'truncate'
}

/** By the type of the packet; undefined for one that is not read at all. */
export type LimitOf = (type: number) => PacketLimit | undefined

/** Memory that many connections share. */
export class ByteBudget {
  #left: number

  constructor(bytesMax: number) {
    this.#left = bytesMax
  }

  /** False when there is not so much left. */
  take(bytes: number): boolean {
    if (bytes > this.#left) return false
    this.#left -= bytes
    return true
  }

  give(bytes: number): void {
    this.#left += bytes
  }
}

const empty = Buffer.alloc(0)
const lengthBytesMax = 4

export class PacketReader {
  readonly #limitOf: LimitOf
  readonly #budget: ByteBudget
  /** Read from the connection and not yet looked at. */
  #rest: Buffer = empty
  /** A packet of which a part is here, laid out at the size that is kept of it. */
  #partial: { bytes: Buffer; filled: number; start: number; missing: number; isWhole: boolean } | undefined

  constructor(limitOf: LimitOf, budget: ByteBudget) {
    this.#limitOf = limitOf
    this.#budget = budget
  }

  push(chunk: Buffer): void {
    this.#rest = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk])
  }

  get hasPartial(): boolean {
    return this.#partial !== undefined
  }

  /** Gives the memory of an incomplete packet back. */
  close(): void {
    this.#end()
    this.#rest = empty
  }

  /** The next packet that is there, or undefined. Throws a `PacketError`. */
  next(): RawPacket | undefined {
    if (this.#partial === undefined && !this.#begin()) return undefined
    return this.#continue()
  }

  /** Reads the fixed header; false while it is not all there. */
  #begin(): boolean {
    const [first] = this.#rest
    if (first === undefined) return false
    const limit = this.#limitOf(first >> 4)
    if (limit === undefined) throw new PacketError('protocol_error', 'unexpected packet type')
    const length = readLength(this.#rest)
    if (length === undefined) {
      // So that a few bytes do not keep all of the chunk in memory.
      this.#rest = Buffer.from(this.#rest)
      return false
    }
    const bytesTotal = length.start + length.value
    const isWhole = bytesTotal <= limit.bytesMax
    if (!isWhole && limit.beyond === 'refuse') throw new PacketError('too_large', 'packet too large')
    const bytesKept = this.#rest.length >= bytesTotal ? 0 : Math.min(bytesTotal, limit.bytesMax)
    if (!this.#budget.take(bytesKept)) throw new PacketError('quota', 'too many incomplete packets')
    const bytes = bytesKept === 0 ? empty : Buffer.allocUnsafe(bytesKept)
    this.#partial = { bytes, filled: 0, start: length.start, missing: bytesTotal, isWhole }
    return true
  }

  #continue(): RawPacket | undefined {
    const partial = this.#partial
    if (partial === undefined) return undefined
    const { start, isWhole } = partial
    const taken = this.#rest.subarray(0, partial.missing)
    this.#rest = this.#rest.length === taken.length ? empty : this.#rest.subarray(taken.length)
    partial.missing -= taken.length
    // Nearly all packets come in one piece, which needs no copy.
    if (partial.bytes.length === 0) {
      this.#partial = undefined
      return { bytes: taken, start, isWhole }
    }
    partial.filled += taken.copy(partial.bytes, partial.filled)
    if (partial.missing > 0) return undefined
    this.#end()
    return { bytes: partial.bytes, start, isWhole }
  }

  #end(): void {
    this.#budget.give(this.#partial?.bytes.length ?? 0)
    this.#partial = undefined
  }
}

/** MQTT 5 wants the length in as few bytes as it takes. */
export function checkLength({ bytes, start }: RawPacket): void {
  if (start > 2 && bytes[start - 1] === 0) throw new PacketError('malformed', 'the length has more bytes than it takes')
}

/** The remaining length of a packet, and where the rest begins. */
function readLength(bytes: Buffer): { value: number; start: number } | undefined {
  let value = 0
  for (let at = 1; at <= lengthBytesMax; at++) {
    const byte = bytes[at]
    if (byte === undefined) return undefined
    value += (byte & 0x7f) * 0x80 ** (at - 1)
    if (byte < 0x80) return { value, start: at + 1 }
  }
  throw new PacketError('malformed', 'invalid length')
}
