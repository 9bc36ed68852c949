/** Many texts as one message: another thread gets one string and one array at once, and many strings one by one. */

export interface PackedTexts {
  text: string
  /** Where each of them ends in the text. */
  ends: Uint32Array<ArrayBuffer>
}

export function packTexts(texts: readonly string[]): PackedTexts {
  const ends = new Uint32Array(texts.length)
  let end = 0
  for (let index = 0; index < texts.length; index++) {
    end += (texts[index] as string).length
    ends[index] = end
  }
  return { text: texts.join(''), ends }
}

/** The text with this index. A part of the whole in memory: whoever keeps it keeps all. */
export function textAt({ text, ends }: PackedTexts, index: number): string {
  return text.slice(ends[index - 1] ?? 0, ends[index])
}
