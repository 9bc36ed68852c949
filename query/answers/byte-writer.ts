/** Text gathered into one growing buffer, up to a length. */

/** Text is buffered until a copy is worthwhile: a copy costs about as much as fifty characters. */
const pendingMax = 64 * 1024

/** A buffer of UTF-8 bytes, fewer than `bytesMax`. */
export class ByteWriter {
  readonly #bytesMax: number
  #buffer: Buffer<ArrayBuffer>
  #length = 0
  #pending = ''
  #full = false

  constructor(bytesMax: number, bytesExpected: number) {
    this.#bytesMax = bytesMax
    this.#buffer = Buffer.allocUnsafeSlow(Math.max(1024, Math.min(bytesMax, bytesExpected)))
  }

  /** True once the limit is reached. Further text is discarded. */
  get full(): boolean {
    return this.#full
  }

  /** Adds text whose characters are all ASCII. */
  ascii(text: string): void {
    this.#pending += text
    if (this.#pending.length >= pendingMax) this.#flush()
  }

  utf8(text: string): void {
    this.#flush()
    if (this.#reserve(Buffer.byteLength(text))) this.#length += this.#buffer.write(text, this.#length, 'utf8')
  }

  /** Returns the bytes in a buffer of exactly their length, or undefined when there would be too many. */
  finish(): Uint8Array<ArrayBuffer> | undefined {
    this.#flush()
    return this.#full ? undefined : new Uint8Array(this.#buffer.subarray(0, this.#length))
  }

  #flush(): void {
    const text = this.#pending
    this.#pending = ''
    if (this.#reserve(text.length)) this.#length += this.#buffer.write(text, this.#length, 'latin1')
  }

  #reserve(bytes: number): boolean {
    const needed = this.#length + bytes
    if (needed >= this.#bytesMax) this.#full = true
    if (this.#full) return false
    if (needed > this.#buffer.length) {
      const grown = Buffer.allocUnsafeSlow(Math.min(this.#bytesMax, Math.max(needed, this.#buffer.length * 2)))
      this.#buffer.copy(grown, 0, 0, this.#length)
      this.#buffer = grown
    }
    return true
  }
}
