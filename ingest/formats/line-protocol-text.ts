/** The characters of InfluxDB's line protocol: the ends of names, strings and lines, and the escapes. */

export const byteOf = {
  tab: 0x09,
  lineFeed: 0x0a,
  carriageReturn: 0x0d,
  space: 0x20,
  quote: 0x22,
  hash: 0x23,
  comma: 0x2c,
  minus: 0x2d,
  equals: 0x3d,
  backslash: 0x5c,
} as const

/** Characters that a backslash escapes; before any other it stands for itself. */
const escapable = { measurement: ', \\', name: ', =\\' } as const

/**
 * Finds the end of the measurement with its tags: the space before the fields, or the end of the line or the body. Of two
 * backslashes the first escapes the second. A line feed always ends the line, even after a backslash.
 */
export function seriesEnd(bytes: Buffer, start: number): number {
  let at = start
  for (; at < bytes.length; at++) {
    const byte = bytes[at]
    if (byte === byteOf.space || byte === byteOf.lineFeed) break
    if (byte === byteOf.backslash && at + 1 < bytes.length && bytes[at + 1] !== byteOf.lineFeed) at++
  }
  return at
}

/** Finds the end of a name or a number: the first comma, equals sign, space or line feed that is not escaped, or `end`. */
export function nameEnd(bytes: Buffer, start: number, end: number): number {
  let at = start
  for (; at < end; at++) {
    const byte = bytes[at] ?? 0
    // Most bytes are letters, which are above all of these except the backslash.
    if (byte > byteOf.equals) {
      if (byte === byteOf.backslash && at + 1 < end && bytes[at + 1] !== byteOf.lineFeed) at++
    } else if (isDelimiter(byte)) break
  }
  return at
}

function isDelimiter(byte: number): boolean {
  return byte === byteOf.equals || byte === byteOf.comma || byte === byteOf.space || byte === byteOf.lineFeed
}

/** Finds the end of the measurement: like a name, but it may contain an equals sign. */
export function measurementEnd(bytes: Buffer, start: number, end: number): number {
  let at = nameEnd(bytes, start, end)
  while (at < end && bytes[at] === byteOf.equals) at = nameEnd(bytes, at + 1, end)
  return at
}

/** Offset after the closing quote of a string that opens at `start`. Undefined without one. A string may span lines. */
export function stringEnd(bytes: Buffer, start: number): number | undefined {
  for (let at = start + 1; at < bytes.length; at++) {
    const byte = bytes[at]
    if (byte === byteOf.quote) return at + 1
    if (byte === byteOf.backslash) at++
  }
  return undefined
}

/**
 * Finds the line feed that ends a line whose fields cannot be read beyond `start`, or the end of the body. The content of a
 * string is never read as lines: its text may come from another person.
 */
export function lineEnd(bytes: Buffer, start: number): number {
  let opensString = false
  for (let at = start; at < bytes.length; at++) {
    const byte = bytes[at]
    if (byte === byteOf.lineFeed) return at
    if (byte === byteOf.quote && opensString) {
      const end = stringEnd(bytes, at)
      if (end === undefined) return bytes.length
      at = end - 1
    } else if (byte === byteOf.backslash && bytes[at + 1] !== byteOf.lineFeed) at++
    opensString = byte === byteOf.equals
  }
  return bytes.length
}

export function unescapeText(bytes: Buffer, start: number, end: number, kind: keyof typeof escapable): string {
  const text = bytes.toString('utf8', start, end)
  if (!text.includes('\\')) return text
  let plain = ''
  for (let at = 0; at < text.length; at++) {
    const next = text[at + 1]
    const isEscape = text[at] === '\\' && next !== undefined && escapable[kind].includes(next)
    if (isEscape) at++
    plain += text[at]
  }
  return plain
}

export function isBlank(byte: number | undefined): boolean {
  return byte === byteOf.space || byte === byteOf.tab || byte === byteOf.carriageReturn
}

export function commentEnd(bytes: Buffer, start: number): number {
  const end = bytes.indexOf(byteOf.lineFeed, start)
  return end === -1 ? bytes.length : end
}

/** The end of a token before a line feed, without the carriage return that belongs to it. */
export function withoutReturn(bytes: Buffer, start: number, end: number): number {
  const isLineEnd = end > start && (end === bytes.length || bytes[end] === byteOf.lineFeed)
  return isLineEnd && bytes[end - 1] === byteOf.carriageReturn ? end - 1 : end
}

export function lineFeedsIn(bytes: Buffer, start: number, end: number): number {
  let count = 0
  for (let at = start; at < end; at++) if (bytes[at] === byteOf.lineFeed) count++
  return count
}
