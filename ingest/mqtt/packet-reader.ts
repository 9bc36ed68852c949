/** Cuts the bytes of a connection into MQTT packets. The limits of the packet types bound its memory. */

import { PacketError } from './packet-fields.ts'

/** The type is the upper half of a packet's first byte. */
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
  /** The bytes begin with the first one of the packet. */
  bytes: Buffer
  /** Offset after the length. */
  start: number
  /** False for the beginning of a packet that exceeds its limit. */
  isWhole: boolean
}

export interface PacketLimit {
  /** Size of the whole packet. */
  bytesMax: number
  /** Handling of larger packets. */
  beyond: 'refuse' | 'truncate'
}

/** The argument is the type of the packet. Undefined for a type that is not read at all. */
export type LimitOf = (type: number) => PacketLimit | undefined

/** Memory shared by many connections. */
export class ByteAllowance {
  #left: number

  constructor(bytesMax: number) {
    this.#left = bytesMax
  }

  /** Returns false when less is left. */
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
  readonly #budget: ByteAllowance
  /** Bytes read from the connection and not yet processed. */
  #rest: Buffer = empty
  /** An incomplete packet, allocated at its kept size. */
  #partial: { bytes: Buffer; filled: number; start: number; missing: number; isWhole: boolean } | undefined

  constructor(limitOf: LimitOf, budget: ByteAllowance) {
    this.#limitOf = limitOf
    this.#budget = budget
  }

  push(chunk: Buffer): void {
    this.#rest = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk])
  }

  get hasPartial(): boolean {
    return this.#partial !== undefined
  }

  /** Releases the memory of an incomplete packet. */
  close(): void {
    this.#end()
    this.#rest = empty
  }

  /** The next complete packet, or undefined. Throws a `PacketError`. */
  next(): RawPacket | undefined {
    if (this.#partial === undefined && !this.#begin()) return undefined
    return this.#continue()
  }

  /** Reads the fixed header. Returns false while it is incomplete. */
  #begin(): boolean {
    const [first] = this.#rest
    if (first === undefined) return false
    const limit = this.#limitOf(first >> 4)
    if (limit === undefined) throw new PacketError('protocol_error', 'unexpected packet type')
    const length = readLength(this.#rest)
    if (length === undefined) {
      // A few bytes must not keep the whole chunk in memory.
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
    // Nearly all packets arrive in one piece, which needs no copy.
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

/** MQTT 5 requires the shortest form of the length. */
export function checkLength({ bytes, start }: RawPacket): void {
  if (start > 2 && bytes[start - 1] === 0) throw new PacketError('malformed', 'the length is not in its shortest form')
}

/** The remaining length of a packet, and the offset after it. */
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
