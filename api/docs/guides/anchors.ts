/** Makes anchors as GitHub does: `Expected interval` is `expected-interval`, then `expected-interval-1`. */

import type { Tokens } from 'marked'
import { plainText } from './plain-text.ts'

/** Called once for each heading of a document, in order. */
export type Anchors = (heading: Tokens.Heading) => string

export function createAnchors(): Anchors {
  const counts = new Map<string, number>()
  return ({ tokens }) => {
    const name = tokens
      .map(plainText)
      .join('')
      .toLowerCase()
      .replace(/[^\p{L}\p{N}_ -]/gu, '')
      .replaceAll(' ', '-')
    const count = counts.get(name) ?? 0
    counts.set(name, count + 1)
    return count === 0 ? name : `${name}-${count}`
  }
}
