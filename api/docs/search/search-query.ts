/** What may be searched for, and how it is read. */

export const searchPath = 'docs/search'
export const queryLengthMax = 200
const wordsMax = 8

/** In lower case, each once. */
export function wordsOf(query: string): string[] {
  const words = query.toLowerCase().split(/\s+/)
  return [...new Set(words.filter(word => word !== ''))].slice(0, wordsMax)
}
