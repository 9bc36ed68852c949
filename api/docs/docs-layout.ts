/** The frame of a page of the documentation: links to the others, and the contents beside the text. */

import { type Html, html } from '../http/html.ts'
import { renderDocument, type Visitor } from '../http/page-document.ts'
import { rootFrom } from '../http/root-from.ts'
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

/** `visitor`: who is signed in; undefined: it is not known. */
export function renderDocsPage({ path, title, contents, main }: DocsPage, visitor: Visitor | null | undefined): string {
  const root = rootFrom(path)
  const body = html`<div class="documentation">
${sectionsFrom(root, path)}
<nav class="contents" aria-label="Contents">${listOf(contents)}</nav>
<main id="main">
${main}</main>
</div>`
  return renderDocument({ title, style: styleElement, body, root, current: 'docs', visitor, path: path.slice(1) })
}

const pages = [
  { path: '/docs', title: 'Operations' },
  { path: '/docs/statistics', title: 'Statistics' },
] as const

function sectionsFrom(root: string, current: DocsPage['path']): Html {
  const links = pages.map(({ path, title }) => {
    const isCurrent = path === current ? html` aria-current="page"` : undefined
    return html`<a href="${root}${path.slice(1)}"${isCurrent}>${title}</a>`
  })
  return html`<nav class="sections" aria-label="Pages of the documentation">${links}</nav>`
}

function listOf(entries: readonly ContentsEntry[]): Html {
  const items = entries.map(
    ({ id, title, entries = [] }) =>
      html`<li><a href="#${id}">${title}</a>${entries.length === 0 ? undefined : listOf(entries)}</li>\n`,
  )
  return html`<ul>\n${items}</ul>`
}
