/** Reads the fields of a packet in order, as defined in MQTT 5, 1.5; 3.1.1 has a subset. */

import { isUtf8 } from 'node:buffer'
import type { CloseReason } from './reason-codes.ts'

const variableBytesMax = 4

export class FieldReader {
  readonly #bytes: Buffer
  readonly #end: number
  #at: number

  constructor(bytes: Buffer, start: number, end = bytes.length) {
    this.#bytes = bytes
    this.#at = start
    this.#end = end
  }

  get hasMore(): boolean {
    return this.#at < this.#end
  }

  byte(): number {
    return this.#bytes[this.#take(1)] as number
  }

  uint16(): number {
    return this.#bytes.readUInt16BE(this.#take(2))
  }

  uint32(): number {
    return this.#bytes.readUInt32BE(this.#take(4))
  }

  /** A packet identifier, which must not be zero. */
  packetId(): number {
    const id = this.uint16()
    if (id === 0) throw malformed('the packet identifier is zero')
    return id
  }

  /** A variable byte integer, in its shortest form. */
  variable(): number {
    let value = 0
    for (let count = 0; count < variableBytesMax; count++) {
      const byte = this.byte()
      value += (byte & 0x7f) * 0x80 ** count
      if (byte === 0 && count > 0) break
      if (byte < 0x80) return value
    }
    throw malformed('invalid variable byte integer')
  }

  binary(): Buffer {
    const length = this.uint16()
    const start = this.#take(length)
    return this.#bytes.subarray(start, start + length)
  }

  text(): string {
    const bytes = this.binary()
    checkText(bytes)
    return bytes.toString()
  }

  /** Checks a text without decoding it. */
  skipText(): void {
    checkText(this.binary())
  }

  /** This many bytes, as a separate reader. */
  part(length: number): FieldReader {
    const start = this.#take(length)
    return new FieldReader(this.#bytes, start, start + length)
  }

  rest(): Buffer {
    return this.#bytes.subarray(this.#take(this.#end - this.#at), this.#end)
  }

  /** Checks that nothing follows. */
  end(): void {
    if (this.hasMore) throw malformed('bytes behind the last field')
  }

  /** Offset of the next bytes. */
  #take(length: number): number {
    const start = this.#at
    if (start + length > this.#end) throw malformed('the packet ends within a field')
    this.#at = start + length
    return start
  }
}

function checkText(bytes: Buffer): void {
  if (!isUtf8(bytes)) throw malformed('a string is not UTF-8')
  if (bytes.includes(0)) throw malformed('a string has a null character')
}

function malformed(message: string): PacketError {
  return new PacketError('malformed', message)
}

/** Thrown for invalid bytes, or for a packet that a client must not send. The connection is then unusable. */
export class PacketError extends Error {
  readonly reason: CloseReason

  constructor(reason: CloseReason, message: string, options?: ErrorOptions) {
    super(message, options)
    this.reason = reason
  }
}
