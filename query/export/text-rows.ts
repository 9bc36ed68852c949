/**
 * Makes the lines of a table of QuestDB's own CSV, of one device: digits are copied, and read only where they may not be the
 * shortest ones of their number.
 */

import { fieldBytesMax } from './row-bytes.ts'

export interface TextRows {
  readonly bytes: Uint8Array<ArrayBuffer>
  readonly rows: number
  /** Microseconds, of the last row; NaN without one. */
  readonly lastUs: number
}

export interface LineParts {
  /** Between a time and the values. */
  readonly device: Uint8Array
  readonly end: Uint8Array
}

const [quote, comma, lineFeed, carriageReturn] = [0x22, 0x2c, 0x0a, 0x0d]
const [minus, point, zero, nine, utc] = [0x2d, 0x2e, 0x30, 0x39, 0x5a]
/** `2016-05-30T02:20:00.000000`; QuestDB has a Z behind it, and quotes around. */
const timeBytes = 26
/** With a point: a decimal of at most 15 digits is the shortest one of its double. */
const shortBytesMax = 16

/** Of a row as QuestDB has it. */
export function textRowBytesMax(columnCount: number): number {
  return timeBytes + 5 + columnCount * (1 + fieldBytesMax)
}

export function textHeaderOf(names: readonly string[]): string {
  return `${['ts', ...names].map(name => `"${name}"`).join()}\r\n`
}

/** Each row has a time and as many numbers as there are names. Undefined where the text is another one, or its times do not ascend. */
export function rewriteRows(text: Buffer, names: readonly string[], parts: LineParts): TextRows | undefined {
  const header = textHeaderOf(names)
  if (text.toString('latin1', 0, header.length) !== header) return undefined
  const rewriter = new Rewriter(text, header.length, textRowBytesMax(names.length) + parts.device.length)
  let rows = 0
  for (; !rewriter.isAtEnd(); rows++) {
    if (!rewriter.time()) return undefined
    rewriter.append(parts.device)
    for (let index = 0; index < names.length; index++) if (!rewriter.number()) return undefined
    if (!rewriter.lineEnd()) return undefined
    rewriter.append(parts.end)
  }
  return { ...rewriter.finish(), rows }
}

class Rewriter {
  readonly #text: Buffer
  readonly #lineBytesMax: number
  #at: number
  #bytes: Buffer<ArrayBuffer>
  #length = 0
  /** Where the last line begins. */
  #line = -1

  constructor(text: Buffer, from: number, lineBytesMax: number) {
    this.#text = text
    this.#at = from
    this.#lineBytesMax = lineBytesMax
    this.#bytes = Buffer.allocUnsafeSlow(text.length + lineBytesMax)
  }

  isAtEnd(): boolean {
    return this.#at >= this.#text.length
  }

  /** False for what is no time behind the one before. Makes room for a line. */
  time(): boolean {
    this.#reserve()
    const [text, bytes, at, line] = [this.#text, this.#bytes, this.#at, this.#length]
    if (text[at] !== quote || text[at + timeBytes + 1] !== utc || text[at + timeBytes + 2] !== quote) return false
    for (let place = 0; place < timeBytes; place++) bytes[line + place] = text[at + 1 + place] as number
    const isBehind = this.#line < 0 || ascends(bytes, this.#line, line)
    this.#at = at + timeBytes + 3
    this.#length = line + timeBytes
    this.#line = line
    return isBehind
  }

  append(part: Uint8Array): void {
    for (let index = 0; index < part.length; index++) this.#bytes[this.#length++] = part[index] as number
  }

  /** A comma and a number, or nothing behind it. */
  number(): boolean {
    const [text, bytes, start] = [this.#text, this.#bytes, this.#at + 1]
    if (text[start - 1] !== comma) return false
    let at = start
    let length = this.#length
    bytes[length++] = comma
    let isDecimal = true
    for (let byte = text[at]; byte !== comma && byte !== carriageReturn; byte = text[++at]) {
      if (byte === undefined || at - start === fieldBytesMax) return false
      if (byte < minus || byte > nine) isDecimal = false
      bytes[length++] = byte
    }
    this.#at = at
    this.#length = length
    return at === start || this.#shorten(start, isDecimal)
  }

  /** The number that has just been copied. */
  #shorten(start: number, isDecimal: boolean): boolean {
    const [text, at] = [this.#text, this.#at]
    const fieldBytes = at - start
    const endsWithZero = text[at - 1] === zero
    if (isDecimal && endsWithZero && text[at - 2] === point && fieldBytes <= shortBytesMax) {
      this.#length -= 2
    } else if (!isDecimal || endsWithZero || fieldBytes > shortBytesMax) {
      const value = Number(text.toString('latin1', start, at))
      if (!Number.isFinite(value)) return false
      this.#length -= fieldBytes
      // -0 keeps its sign.
      this.#length += this.#bytes.write(Object.is(value, -0) ? '-0' : String(value), this.#length, 'latin1')
    }
    return true
  }

  lineEnd(): boolean {
    const isThere = this.#text[this.#at] === carriageReturn && this.#text[this.#at + 1] === lineFeed
    this.#at += 2
    return isThere
  }

  #reserve(): void {
    if (this.#length + this.#lineBytesMax <= this.#bytes.length) return
    const rest = this.#text.length - this.#at + this.#lineBytesMax
    const grown = Buffer.allocUnsafeSlow(this.#length + Math.max(rest, this.#bytes.length >> 2))
    this.#bytes.copy(grown, 0, 0, this.#length)
    this.#bytes = grown
  }

  finish(): Omit<TextRows, 'rows'> {
    const line = this.#line
    const lastUs = line < 0 ? Number.NaN : timeUsOf(this.#bytes.toString('latin1', line, line + timeBytes))
    return { bytes: new Uint8Array(this.#bytes.buffer, 0, this.#length), lastUs }
  }
}

/** Times of this form are in the order of their text. */
function ascends(bytes: Uint8Array, before: number, behind: number): boolean {
  for (let place = 0; place < timeBytes; place++) {
    const difference = (bytes[behind + place] as number) - (bytes[before + place] as number)
    if (difference !== 0) return difference > 0
  }
  return false
}

/** Microseconds, of which a date has milliseconds. */
function timeUsOf(text: string): number {
  return Date.parse(`${text.slice(0, -3)}Z`) * 1000 + Number(text.slice(-3))
}
