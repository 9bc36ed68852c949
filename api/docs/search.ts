/** Searches the sections of guides and the operations by words and their stems, and renders the results. */

import MiniSearch from 'minisearch'
import { stemmer } from 'stemmer'
import { type Html, html } from '../http/html.ts'
import { rootFrom } from '../http/page-document.ts'
import { type DocsPage, searchPath } from './docs-layout.ts'

export interface Section {
  /** Address from the root: `docs/statistics#trend`. */
  address: string
  title: string
  page: string
  text: string
  isOfApi: boolean
}

export interface DocsSearch {
  add(sections: readonly Section[]): void
  /** Sections with all words of the query, best first. Operations are included only with `mayReadApi`. */
  page(query: string, mayReadApi: boolean): DocsPage
}

/** A word in a heading weighs more than one in the text. */
const boost = { title: 6, page: 2 }
const shownMax = 50

export function createDocsSearch(): DocsSearch {
  /** Stems of all words of the sections. The stemmer would take most of the time of a search. */
  const known = new Map<string, string>()
  const stemOf = (word: string) => known.get(word) ?? stemmer(word)
  const index = new MiniSearch<Section>({
    idField: 'address',
    fields: ['title', 'page', 'text'],
    storeFields: ['isOfApi'],
    tokenize: text => wordsIn(text).flatMap(withParts),
    processTerm(word) {
      const stem = stemOf(word)
      known.set(word, stem)
      return stem
    },
    searchOptions: { boost, combineWith: 'AND', tokenize: wordsIn, processTerm: stemOf },
  })
  const sections = new Map<string, Section>()

  return {
    add(added) {
      index.addAll(added)
      for (const section of added) sections.set(section.address, section)
    },
    page(query, mayReadApi) {
      const found = index.search(query, { filter: ({ isOfApi }) => mayReadApi || !isOfApi })
      const stems = new Set(wordsIn(query).map(stemOf))
      const isFound = (word: string) => withParts(word).some(part => stems.has(stemOf(part)))
      const shown = found.slice(0, shownMax).flatMap(({ id }) => sections.get(id) ?? [])
      const items = shown.map(section => resultOf(section, isFound))
      const main = html`<h1>Search</h1>
<p>${summaryOf(stems.size, found.length)}</p>
${items.length === 0 ? undefined : html`<ol class="results">\n${items}</ol>\n`}`
      return { path: searchPath, title: 'Search', contents: [], main, query }
    },
  }
}

const wordPattern = /[\p{L}\p{N}_]+/gu

function wordsIn(text: string): string[] {
  return text.match(wordPattern) ?? []
}

/** `RETENTION_DAYS` is found by its parts, too. */
function withParts(word: string): string[] {
  return word.includes('_') ? [word, ...word.split('_').filter(part => part !== '')] : [word]
}

function summaryOf(wordCount: number, count: number): string {
  if (wordCount === 0) return 'Type words to search for.'
  if (count === 0) return `No section has ${wordCount === 1 ? 'this word' : 'all of these words'}.`
  const all = count === 1 ? '1 section.' : `${count} sections.`
  return count > shownMax ? `${all} The best ${shownMax}; another word finds fewer.` : all
}

const root = rootFrom(`/${searchPath}`)

type IsFound = (word: string) => boolean

function resultOf(section: Section, isFound: IsFound): Html {
  const { address, title, page } = section
  const pageName = title === page ? undefined : html` <span class="soft">${page}</span>`
  return html`<li><a href="${root}${address}">${title}</a>${pageName}
<p>${excerptOf(section.text, isFound)}</p></li>
`
}

const excerptLength = 180

/** The text around its first found word. Found words are marked. */
function excerptOf(text: string, isFound: IsFound): Html {
  let first = 0
  for (const { 0: word, index } of text.matchAll(wordPattern)) {
    if (!isFound(word)) continue
    first = index
    break
  }
  const start = first < excerptLength / 3 ? 0 : text.lastIndexOf(' ', first - excerptLength / 3) + 1
  const end = start + excerptLength
  const parts: Html[] = []
  let done = start
  for (const { 0: word, index } of text.slice(0, end).matchAll(wordPattern)) {
    if (index < start || !isFound(word)) continue
    parts.push(html`${text.slice(done, index)}<mark>${word}</mark>`)
    done = index + word.length
  }
  return html`${start > 0 ? '… ' : ''}${parts}${text.slice(done, end)}${end < text.length ? ' …' : ''}`
}
