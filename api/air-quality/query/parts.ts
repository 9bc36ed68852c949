/** What the readers of `filter` and `sort` share. */

export type Parsed<Value> =
  | { readonly ok: true; readonly value: Value }
  /** Says which part is wrong; for a response with status 400. */
  | { readonly ok: false; readonly message: string }

const excerptCharacters = 80

/** Between semicolons; empty ones are skipped. */
export function partsOf(text: string): string[] {
  return text.split(';').filter(part => part.trim() !== '')
}

/** A caller's text as a message repeats it. */
export function excerpt(text: string): string {
  return text.length <= excerptCharacters ? text : `${text.slice(0, excerptCharacters)}…`
}
