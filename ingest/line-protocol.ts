/** Line protocol, version 2: text with doubles as eight binary bytes. */

/** Marks a binary double, after a second equals sign. */
export const binaryDouble = 16

/** Escapes a name or a symbol for line protocol. */
export function escapeText(text: string): Buffer {
  return Buffer.from(
    text.replace(/[ ,=\n\r\\]/g, character => `\\${character}`),
    'utf8',
  )
}

export function unescapeText(bytes: Uint8Array): string {
  return Buffer.from(bytes)
    .toString('utf8')
    .replace(/\\([ ,=\n\r\\])/g, '$1')
}
