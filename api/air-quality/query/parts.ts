/** Shares helpers between the parsers of `filter` and `sort`. */

export type Parsed<Value> =
  | { readonly ok: true; readonly value: Value }
  /** Names the wrong part, for a response with status 400. */
  | { readonly ok: false; readonly message: string }

const excerptCharacters = 80

/** Splits at semicolons and skips empty parts. */
export function partsOf(text: string): string[] {
  return text.split(';').filter(part => part.trim() !== '')
}

/** Shortens a caller's text for a message. */
export function excerpt(text: string): string {
  return text.length <= excerptCharacters ? text : `${text.slice(0, excerptCharacters)}…`
}
