/** The frame of a page of the documentation: a menu of the pages, and the contents beside the text. */

import { type Html, html } from '../http/html.ts'
import { renderDocument } from '../http/page-document.ts'
import { styleElement } from './docs-style.ts'

export interface ContentsEntry {
  id: string
  title: string
  /** Left out on a narrow screen. */
  entries?: readonly ContentsEntry[]
}

export interface DocsPage {
  path: '/docs' | '/docs/statistics'
  title: string
  contents: readonly ContentsEntry[]
  main: Html
}

export function renderDocsPage({ path, title, contents, main }: DocsPage): string {
  const body = html`<div class="documentation">
<nav class="contents" aria-label="Contents">${listOf(contents)}</nav>
<main>
${main}</main>
</div>`
  return renderDocument({ title, style: styleElement, menu: menuOf(path), body })
}

const pages = [
  { path: '/docs', title: 'Operations' },
  { path: '/docs/statistics', title: 'Statistics' },
] as const

function menuOf(current: DocsPage['path']): Html {
  const links = pages.map(({ path, title }) =>
    path === current ? html`<a href="${path}" aria-current="page">${title}</a>` : html`<a href="${path}">${title}</a>`,
  )
  return html`<nav class="menu" aria-label="Pages">${links}</nav>`
}

function listOf(entries: readonly ContentsEntry[]): Html {
  const items = entries.map(
    ({ id, title, entries = [] }) =>
      html`<li><a href="#${id}">${title}</a>${entries.length === 0 ? undefined : listOf(entries)}</li>\n`,
  )
  return html`<ul>\n${items}</ul>`
}
