/**
 * Publishes the characters of device names and tags: `nameFault` in device.ts and `tagFault` in tag.ts, for dialects of
 * regular expressions without Unicode properties. A test compares each code point.
 */

/** Code points of Unicode 17 that neither may have, as ranges. Space is the only allowed blank. */
const refused: readonly (readonly [number, number])[] = [
  [0x0, 0x20],
  [0x7f, 0xa0],
  [0xad, 0xad],
  [0x34f, 0x34f],
  [0x600, 0x605],
  [0x61c, 0x61c],
  [0x6dd, 0x6dd],
  [0x70f, 0x70f],
  [0x890, 0x891],
  [0x8e2, 0x8e2],
  [0x115f, 0x1160],
  [0x1680, 0x1680],
  [0x17b4, 0x17b5],
  [0x180b, 0x180f],
  [0x2000, 0x200f],
  [0x2028, 0x202f],
  [0x205f, 0x206f],
  [0x2800, 0x2800],
  [0x3000, 0x3000],
  [0x3164, 0x3164],
  [0xfdd0, 0xfdef],
  [0xfe00, 0xfe0f],
  [0xfeff, 0xfeff],
  [0xffa0, 0xffa0],
  [0xfff0, 0xfffb],
  [0xfffe, 0xffff],
  [0x110bd, 0x110bd],
  [0x110cd, 0x110cd],
  [0x13430, 0x1343f],
  [0x1bca0, 0x1bca3],
  [0x1d173, 0x1d17a],
  [0x1fffe, 0x1ffff],
  [0x2fffe, 0x2ffff],
  [0x3fffe, 0x3ffff],
  [0x4fffe, 0x4ffff],
  [0x5fffe, 0x5ffff],
  [0x6fffe, 0x6ffff],
  [0x7fffe, 0x7ffff],
  [0x8fffe, 0x8ffff],
  [0x9fffe, 0x9ffff],
  [0xafffe, 0xaffff],
  [0xbfffe, 0xbffff],
  [0xcfffe, 0xcffff],
  [0xdfffe, 0xe0fff],
  [0xefffe, 0xeffff],
  [0xffffe, 0xfffff],
  [0x10fffe, 0x10ffff],
]

/** Words separated by single spaces. */
export const namePattern = `^${wordOf(':/+#')}(?: ${wordOf(':/+#')})*$`

/** Value of a tag, without its length. */
export const tagPattern = `^[a-z][a-z0-9_]{0,31}:${wordOf(',;')}(?: ${wordOf(',;')})*$`

/** Characters that are neither refused nor in `others`. */
function wordOf(others: string): string {
  const ranges = refused.map(([first, last]) => `${signOf(first)}-${signOf(last)}`)
  const signs = [...others].map(sign => signOf(sign.charCodeAt(0)))
  return `[^${ranges.join('')}${signs.join('')}]+`
}

/** Written unescaped beyond the basic plane, where dialects differ in escapes. */
function signOf(codePoint: number): string {
  if (codePoint > 0xffff) return String.fromCodePoint(codePoint)
  return `\\u${codePoint.toString(16).padStart(4, '0')}`
}
