/** Texts from strangers, as they are kept, logged and shown: of bounded length, in one line. */

/** Control characters, and characters that change the direction of the text after them. */
const unprintable = /[\p{Cc}\p{Bidi_Control}\p{Zl}\p{Zp}]/gu

export function boundedText(text: string, lengthMax: number): string {
  const cut = text.length > lengthMax ? `${text.slice(0, lengthMax - 1)}…` : text
  // A copy, since V8 keeps a whole text alive for each of its slices. Halves of a surrogate pair become U+FFFD.
  return Buffer.from(cut).toString().replace(unprintable, '\ufffd')
}
