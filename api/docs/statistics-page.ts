/** The definitions of the statistics as a page: docs/statistics.md, with an anchor for each analysis. */

import { readFileSync } from 'node:fs'
import { Marked, type Tokens } from 'marked'
import type { DocsPage } from './docs-layout.ts'

/** Beside the sources and, in a package, beside what is made of them. */
const file = new URL('../../docs/statistics.md', import.meta.url)

export function statisticsPage(): DocsPage {
  const markdown = readFileSync(file, 'utf8')
  const marked = new Marked({ renderer: { heading: renderHeading } })
  const tokens = marked.lexer(markdown)
  const contents = tokens
    .filter(isHeading)
    .filter(({ depth }) => depth === 2)
    .map(({ text }) => ({ id: anchorOf(text), title: text }))
  // A table is wider than a phone, so it scrolls in a box of its own, by keyboard too.
  const markup = marked
    .parser(tokens)
    .replaceAll('<table>', '<div class="table" tabindex="0"><table>')
    .replaceAll('</table>', '</table></div>')
  return { path: '/docs/statistics', title: 'Statistics', contents, main: { markup } }
}

function renderHeading({ text, depth }: Tokens.Heading): string {
  return `<h${depth} id="${anchorOf(text)}">${text}</h${depth}>\n`
}

/** As on GitHub: `Expected interval` is `expected-interval`. */
function anchorOf(text: string): string {
  return text.toLowerCase().replaceAll(/[^a-z]+/g, '-')
}

function isHeading(token: { type: string }): token is Tokens.Heading {
  return token.type === 'heading'
}
