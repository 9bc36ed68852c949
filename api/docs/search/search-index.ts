/** Searches for words in sections of guides and in operations. Scanning half a megabyte takes a few milliseconds. */

import { wordsOf } from './search-query.ts'

export interface Section {
  /** Address from the root: `docs/statistics#trend`. */
  address: string
  title: string
  page: string
  text: string
}

export interface Found {
  section: Section
  /** Text around the first occurrence of a word. */
  excerpt: string
}

export interface SearchIndex {
  /** Sections with all words of the query, best first. */
  find(query: string): Found[]
}

interface Entry {
  section: Section
  title: string
  page: string
  text: string
}

export function createSearchIndex(sections: readonly Section[]): SearchIndex {
  const entries = sections.map(section => ({
    section,
    title: section.title.toLowerCase(),
    page: section.page.toLowerCase(),
    text: section.text.toLowerCase(),
  }))

  function find(query: string): Found[] {
    const words = wordsOf(query)
    if (words.length === 0) return []
    return entries
      .map(entry => ({ entry, score: scoreOf(entry, words) }))
      .filter(({ score }) => score > 0)
      .sort((a, b) => b.score - a.score)
      .map(({ entry }) => ({ section: entry.section, excerpt: excerptOf(entry, words) }))
  }

  return { find }
}

/** 0 if a word is missing. */
function scoreOf({ title, page, text }: Entry, words: readonly string[]): number {
  let score = 0
  for (const word of words) {
    const found = weightIn(title, word, 20) + weightIn(page, word, 10) + occurrencesOf(word, text)
    if (found === 0) return 0
    score += found
  }
  return score
}

function weightIn(name: string, word: string, weight: number): number {
  if (name === word) return 2 * weight
  return name.includes(word) ? weight : 0
}

const occurrencesMax = 5

/** Further occurrences do not raise the score. */
function occurrencesOf(word: string, text: string): number {
  let count = 0
  for (let at = text.indexOf(word); at !== -1 && count < occurrencesMax; at = text.indexOf(word, at + word.length))
    count++
  return count
}

const excerptLength = 180

function excerptOf({ section, text }: Entry, words: readonly string[]): string {
  const places = words.map(word => text.indexOf(word)).filter(at => at !== -1)
  const first = places.length === 0 ? 0 : Math.min(...places)
  const space = section.text.lastIndexOf(' ', Math.max(first - excerptLength / 3, 0))
  const start = first < excerptLength / 3 ? 0 : space + 1
  const end = start + excerptLength
  const excerpt = section.text.slice(start, end).replaceAll(/\s+/g, ' ')
  return `${start > 0 ? '… ' : ''}${excerpt}${end < section.text.length ? ' …' : ''}`
}
