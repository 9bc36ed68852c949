/** Lays out a documentation page: navigation beside the text, search above it, and its headings. */

import type { Words } from '../../analytics/findings/words.ts'
import { type Html, html } from '../http/html.ts'
import { createPageStyle, renderDocument, rootFrom, type Visitor } from '../http/page-document.ts'

interface Place {
  /** Path from the root: `docs/statistics`. */
  path: string
  title: string
}

export interface DocsPage extends Place {
  /** Pages above it, below the home page. */
  parents?: readonly Place[]
  contents: readonly ContentsEntry[]
  hasContentsOnlyOnPhones?: boolean
  main: Html
  /** Present text of the search. */
  query?: string
}

interface ContentsEntry {
  id: string
  title: string
}

export interface PlaceGroup {
  title: string
  places: readonly Place[]
}

export const homePath = 'docs'
export const searchPath = 'docs/search'
export const queryLengthMax = 200

/** `groups` has all pages that the visitor may read. `visitor` is undefined if unknown. */
export function renderDocsPage(
  page: DocsPage,
  groups: readonly PlaceGroup[],
  visitor: Visitor | null | undefined,
  words: Words,
): string {
  const { path, title, main, contents } = page
  const root = rootFrom(`/${path}`)
  const body = html`<div class="documentation"${words.language === 'en' ? undefined : html` lang="en"`}>
<div class="above">${trailOf(page, root)}${searchForm(page, root)}</div>
<nav class="guides" aria-label="Documentation">${groups.map(group => groupOf(group, page, root))}</nav>
<main id="main">
${contents.length < 2 ? undefined : html`<details class="here"><summary>On this page</summary>${listOf(contents)}</details>\n`}${main}</main>
</div>`
  return renderDocument({ title, style: styleElement, body, root, current: 'docs', visitor, path, words })
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
function groupOf({ title, places }: PlaceGroup, page: DocsPage, root: string): Html {
  const { path, parents = [], contents, hasContentsOnlyOnPhones = false } = page
  const items = places.map(place => {
    const isHere = place.path === path
    const isAbove = parents.at(-1)?.path === place.path
    const current = isHere ? html` aria-current="page"` : isAbove ? html` aria-current="true"` : undefined
    const headings = isHere && contents.length > 1 && !hasContentsOnlyOnPhones ? listOf(contents) : undefined
    return html`<li><a href="${root}${place.path}"${current}>${place.title}</a>${headings}</li>\n`
  })
  return html`<p>${title}</p>\n<ul>\n${items}</ul>\n`
}

function listOf(entries: readonly ContentsEntry[]): Html {
  return html`<ul>\n${entries.map(({ id, title }) => html`<li><a href="#${id}">${title}</a></li>\n`)}</ul>`
}

const { element: styleElement, contentSecurityPolicy } = createPageStyle(`
.documentation { display: grid; grid-template-columns: 240px minmax(0, 1fr); gap: 0 40px; padding: 0 var(--side); }
.above { grid-column: 1 / -1; display: flex; align-items: center; justify-content: space-between; gap: 8px 24px; padding: 16px 0;
  flex-wrap: wrap; }
.above form { display: flex; flex: 0 1 420px; gap: 8px; }
.above input { flex: 1; min-width: 0; }
.trail a { display: inline-flex; align-items: center; min-height: 44px; }
.trail a + a::before { content: "›"; display: inline-block; padding: 0 8px; color: var(--soft); text-decoration: none; }
.guides { position: sticky; top: 0; max-height: 100dvh; padding: 4px 4px 28px; overflow-y: auto; font-size: 14px; }
.guides p { margin: 20px 0 4px; color: var(--soft); font-size: var(--text-small); font-weight: 600; }
.guides p:first-child { margin-top: 0; }
.guides a { display: block; padding: 4px 8px; border-radius: 6px; color: var(--ink); text-decoration: none; }
.guides a:hover, .here a:hover { text-decoration: underline; }
.guides [aria-current] { background: var(--accent-wash); color: var(--accent); font-weight: 600; }
.guides li li a { padding-left: 20px; color: var(--soft); }
.here { display: none; }
main { padding: 4px 0 64px; min-height: 60dvh; }
main p, main ul, main ol { max-width: 72ch; }
main :is(p, ul, ol, pre) + :is(p, ul, ol, pre), :is(h1, h2, h3) + :is(p, ul, ol, pre) { margin-top: 8px; }
main ul, main ol { padding-left: 24px; list-style: revert; }
main img { display: block; max-width: 100%; height: auto; margin: 12px 0; border: 1px solid var(--line); border-radius: 8px; }
main summary { cursor: pointer; }
h2 { margin: 48px 0 12px; padding-top: 12px; border-top: 1px solid var(--line); font-size: 22px; }
h1 + h2 { margin-top: 24px; }
h3 { margin: 32px 0 8px; font-size: 17px; }
h4 { margin: 16px 0 4px; font-size: 15px; }
:target { scroll-margin-top: 12px; }
:is(h2, h3, h4):target { color: var(--accent); }
code { font-size: .92em; }
pre { padding: 12px 16px; border: 1px solid var(--line); border-radius: 8px; background: var(--card); overflow-x: auto;
  overflow-wrap: normal; font-size: 14px; }
pre code { font-size: inherit; }
.answer pre { max-height: 24rem; margin-top: 8px; overflow-y: auto; }
mark { background: var(--warn-wash); color: inherit; font-weight: 600; }
.soft { color: var(--soft); }
main .results { padding: 0; list-style: none; }
.results li { margin-top: 20px; }
.results a { font-size: 17px; }
.method { display: inline-block; min-width: 4.2em; padding: 1px 8px; border-radius: 6px; background: var(--accent-wash);
  color: var(--accent); text-align: center; }
.table { margin: 8px 0 16px; overflow-x: auto; }
table { min-width: 100%; border-collapse: collapse; font-size: 14px; }
th, td { padding: 7px 16px 7px 0; border-bottom: 1px solid var(--line); text-align: left; vertical-align: top; }
th { color: var(--soft); font-weight: 600; white-space: nowrap; }
td { min-width: 4em; overflow-wrap: break-word; }
td:last-child { padding-right: 0; }
td:first-child { overflow-wrap: normal; }
.operations td:first-child { width: 42%; }
@media (max-width: 800px) {
  .documentation { display: block; }
  .above form { flex-basis: 100%; }
  .trail:empty { display: none; }
  .guides { display: none; }
  .here { display: block; margin-bottom: 20px; border: 1px solid var(--line); border-radius: 8px; background: var(--card); }
  .here summary { padding: 10px 14px; font-weight: 600; }
  main .here ul { padding: 0 14px 8px; list-style: none; }
  .here a { display: block; padding: 10px 0; text-decoration: none; }
}
@media (max-width: 560px) {
  h2 { font-size: 20px; }
  table { min-width: 34rem; }
  .operations { min-width: 0; }
  .operations :is(td, tr, tbody) { display: block; width: auto; }
  .operations thead { display: none; }
  .operations td:first-child { width: auto; padding-bottom: 0; border: 0; }
}
`)

export { contentSecurityPolicy }
