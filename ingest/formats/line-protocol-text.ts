/** The characters of InfluxDB's line protocol: where a name, a string or a line ends, and what its escapes stand for. */

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

/** What a backslash may stand before; anywhere else it stands for itself. */
const escapable = { measurement: ', \\', name: ', =\\' } as const

/**
 * Where the measurement with its tags ends: at the space before the fields, or at the end of the line or the body. Of two
 * backslashes the first escapes the second. A line feed always ends the line, whatever stands before it.
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

/** Where a name or a number ends: at the first comma, equals sign, space or line feed that is not escaped, or at `end`. */
export function nameEnd(bytes: Buffer, start: number, end: number): number {
  let at = start
  for (; at < end; at++) {
    const byte = bytes[at] ?? 0
    // Most bytes are letters, which are above all of these but the backslash.
    if (byte > byteOf.equals) {
      if (byte === byteOf.backslash && at + 1 < end && bytes[at + 1] !== byteOf.lineFeed) at++
    } else if (isDelimiter(byte)) break
  }
  return at
}

function isDelimiter(byte: number): boolean {
  return byte === byteOf.equals || byte === byteOf.comma || byte === byteOf.space || byte === byteOf.lineFeed
}

/** Where the measurement ends: like a name, but an equals sign is one of its characters. */
export function measurementEnd(bytes: Buffer, start: number, end: number): number {
  let at = nameEnd(bytes, start, end)
  while (at < end && bytes[at] === byteOf.equals) at = nameEnd(bytes, at + 1, end)
  return at
}

/** Behind the closing quote of a string that opens at `start`; undefined without one. A string may span lines. */
export function stringEnd(bytes: Buffer, start: number): number | undefined {
  for (let at = start + 1; at < bytes.length; at++) {
    const byte = bytes[at]
    if (byte === byteOf.quote) return at + 1
    if (byte === byteOf.backslash) at++
  }
  return undefined
}

/**
 * The line feed that ends a line whose fields cannot be read any further than `start`, or the end of the body. What
 * stands in a string is never taken for a line: its text may be somebody else's.
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
