/** Lays out a documentation page: navigation beside the text, search above it, and its headings. */

import { type Html, html } from '../http/html.ts'
import { renderDocument, type Visitor } from '../http/page-document.ts'
import { rootFrom } from '../http/root-from.ts'
import { styleElement } from './docs-style.ts'
import { queryLengthMax, searchPath } from './search/search-query.ts'

interface Place {
  /** Path from the root: `docs/statistics`. */
  path: string
  title: string
}

export interface DocsPage extends Place {
  /** Pages above it, below the home page. */
  parents?: readonly Place[]
  contents: readonly ContentsEntry[]
  main: Html
  /** Present text of the search. */
  query?: string
}

export interface ContentsEntry {
  id: string
  title: string
}

export interface PlaceGroup {
  title: string
  places: readonly Place[]
}

export const homePath = 'docs'

/** `groups` has all pages that the visitor may read. `visitor` is undefined if unknown. */
export function renderDocsPage(
  page: DocsPage,
  groups: readonly PlaceGroup[],
  visitor: Visitor | null | undefined,
): string {
  const { path, title, main, contents } = page
  const root = rootFrom(`/${path}`)
  const body = html`<div class="documentation">
<div class="above">${trailOf(page, root)}${searchForm(page, root)}</div>
<nav class="guides" aria-label="Documentation">${groups.map(group => groupOf(group, page, root))}</nav>
<main id="main">
${contents.length < 2 ? undefined : html`<details class="here"><summary>On this page</summary>${listOf(contents)}</details>\n`}${main}</main>
</div>`
  return renderDocument({ title, style: styleElement, body, root, current: 'docs', visitor, path })
}

function trailOf({ path, parents = [] }: DocsPage, root: string): Html {
  if (path === homePath) return html`<nav class="trail" aria-label="Above this page"></nav>`
  const links = [{ path: homePath, title: 'Docs' }, ...parents].map(
    place => html`<a href="${root}${place.path}">${place.title}</a>`,
  )
  return html`<nav class="trail" aria-label="Above this page">${links}</nav>`
}

function searchForm({ query = '' }: DocsPage, root: string): Html {
  return html`<form role="search" action="${root}${searchPath}">
<input type="search" name="q" value="${query}" maxlength="${queryLengthMax}" required placeholder="Search the documentation" aria-label="Search the documentation">
<button class="button">Search</button></form>`
}

/** The headings of the page are below its own link. */
function groupOf({ title, places }: PlaceGroup, { path, parents = [], contents }: DocsPage, root: string): Html {
  const items = places.map(place => {
    const isHere = place.path === path
    const isAbove = parents.at(-1)?.path === place.path
    const current = isHere ? html` aria-current="page"` : isAbove ? html` aria-current="true"` : undefined
    const headings = isHere && contents.length > 1 ? listOf(contents) : undefined
    return html`<li><a href="${root}${place.path}"${current}>${place.title}</a>${headings}</li>\n`
  })
  return html`<p>${title}</p>\n<ul>\n${items}</ul>\n`
}

function listOf(entries: readonly ContentsEntry[]): Html {
  return html`<ul>\n${entries.map(({ id, title }) => html`<li><a href="#${id}">${title}</a></li>\n`)}</ul>`
}
