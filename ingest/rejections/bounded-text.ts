/** Texts that strangers choose, as they are kept, logged and shown: of bounded length, in one line. */

/** Control characters, and those that turn the direction of what follows them. */
const unprintable = /[\p{Cc}\p{Bidi_Control}\p{Zl}\p{Zp}]/gu

export function boundedText(text: string, lengthMax: number): string {
  const cut = text.length > lengthMax ? `${text.slice(0, lengthMax - 1)}…` : text
  // A copy, since V8 keeps the whole of a text for each of its slices. Halves of a surrogate pair become U+FFFD.
  return Buffer.from(cut).toString().replace(unprintable, '\ufffd')
}
