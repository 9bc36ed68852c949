/** Many texts as one message: a thread receives one string and one array at once, but many strings one by one. */

export interface PackedTexts {
  text: string
  /** End of each text in the whole string. */
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

/** The text with this index: a slice, which keeps the whole string in memory. */
export function textAt({ text, ends }: PackedTexts, index: number): string {
  return text.slice(ends[index - 1] ?? 0, ends[index])
}
