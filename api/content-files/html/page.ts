/** The browsable page as one text. */

import { type Html, html } from '../../http/html.ts'
import { renderDocument, type Visitor } from '../../http/page-document.ts'
import { rootFrom } from '../../http/root-from.ts'
import type { BrowsablePage } from '../browsable-page.ts'
import { actions, openFilters } from './actions.ts'
import { exchange } from './exchange.ts'
import { pager } from './pager.ts'
import { styleElement } from './style.ts'

/** `visitor`: who is signed in, where that is known. */
export function renderPage(page: BrowsablePage, visitor?: Visitor | null): string {
  const body = html`${breadcrumb(page.breadcrumb)}
<main id="main">
<div class="title"><div><h1>${page.title}</h1>
<p>${page.description}</p></div>
${actions(page)}</div>
${page.pager && pager(page.pager, 'Pages')}
<section class="card" aria-label="Request and answer">
${exchange({ ...page, requestLine: `${page.method} ${page.path}` })}</section>
${page.pager && pager(page.pager, 'Pages, below the answer')}
${openFilters(page.filters)}
</main>`
  const { title, path } = page
  return renderDocument({ title, style: styleElement, body, root: rootFrom(path), visitor })
}

function breadcrumb(steps: BrowsablePage['breadcrumb']): Html {
  const items = steps.map(({ name, href }) =>
    href === undefined ? html`<li aria-current="page">${name}</li>\n` : html`<li><a href="${href}">${name}</a></li>\n`,
  )
  return html`<nav class="breadcrumb" aria-label="Breadcrumb"><ol>
${items}</ol></nav>`
}
