/** Renders the results of a search. */

import { type Html, html } from '../../http/html.ts'
import { rootFrom } from '../../http/root-from.ts'
import type { DocsPage } from '../docs-layout.ts'
import type { Found } from './search-index.ts'
import { searchPath, wordsOf } from './search-query.ts'

const shownMax = 50
const root = rootFrom(`/${searchPath}`)

export function searchPage(query: string, found: readonly Found[]): DocsPage {
  const words = wordsOf(query)
  const items = found.slice(0, shownMax).map(
    ({
      section: { address, title, page },
      excerpt,
    }) => html`<li><a href="${root}${address}">${title}</a>${title === page ? undefined : html` <span class="soft">${page}</span>`}
<p>${withMarks(excerpt, words)}</p></li>
`,
  )
  const main = html`<h1>Search</h1>
<p>${summaryOf(words, found.length)}</p>
${items.length === 0 ? undefined : html`<ol class="results">\n${items}</ol>\n`}`
  return { path: searchPath, title: 'Search', contents: [], main, query }
}

function summaryOf(words: readonly string[], count: number): string {
  if (words.length === 0) return 'Type words to search for.'
  if (count === 0) return `No section has ${words.length === 1 ? 'this word' : 'all of these words'}.`
  const all = count === 1 ? '1 section.' : `${count} sections.`
  return count > shownMax ? `${all} The best ${shownMax}; another word finds fewer.` : all
}

/** Lower case can change the length of a text, which disables marks. */
function withMarks(text: string, words: readonly string[]): Html {
  const lower = text.toLowerCase()
  if (lower.length !== text.length) return html`${text}`
  const parts: Html[] = []
  let done = 0
  for (let at = 0; at < text.length; ) {
    const word = words.find(each => lower.startsWith(each, at))
    if (word !== undefined) {
      parts.push(html`${text.slice(done, at)}<mark>${text.slice(at, at + word.length)}</mark>`)
      done = at + word.length
    }
    at += word?.length ?? 1
  }
  return html`${parts}${text.slice(done)}`
}
