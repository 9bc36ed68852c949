/** Parses the query of a search. */

export const searchPath = 'docs/search'
export const queryLengthMax = 200
const wordsMax = 8

/** Words in lower case, without duplicates. */
export function wordsOf(query: string): string[] {
  const words = query.toLowerCase().split(/\s+/)
  return [...new Set(words.filter(word => word !== ''))].slice(0, wordsMax)
}
