/** The browsable page as one text. It needs nothing but its style, which stands in it: no script, font or picture. */

import { type Html, html } from '../../http/html.ts'
import type { BrowsablePage } from '../browsable-page.ts'
import { actions, openFilters } from './actions.ts'
import { exchange } from './exchange.ts'
import { pager } from './pager.ts'
import { styleElement } from './style.ts'

export function renderPage(page: BrowsablePage): string {
  return html`<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${page.title} – Barograph</title>
${styleElement}
</head>
<body>
<header><p>Barograph</p>${trace}</header>
${breadcrumb(page.breadcrumb)}
<main>
<div class="title"><div><h1>${page.title}</h1>
<p>${page.description}</p></div>
${actions(page)}</div>
${page.pager && pager(page.pager, 'Pages')}
<section class="card" aria-label="Request and answer">
${exchange({ ...page, requestLine: `${page.method} ${page.path}` })}</section>
${page.pager && pager(page.pager, 'Pages, below the answer')}
${openFilters(page.filters)}
</main>
</body>
</html>
`.markup
}

/** The line that a barograph draws on its paper. */
const trace = html`<svg viewBox="0 0 1000 48" preserveAspectRatio="none" aria-hidden="true"><path
d="M0 30C60 26 90 14 150 15S240 34 300 33 380 12 450 13 520 37 590 38 660 40 690 22 770 9 830 12 930 25 1000 20"
fill="none" vector-effect="non-scaling-stroke"/></svg>`

function breadcrumb(steps: BrowsablePage['breadcrumb']): Html {
  const items = steps.map(({ name, href }) =>
    href === undefined ? html`<li aria-current="page">${name}</li>\n` : html`<li><a href="${href}">${name}</a></li>\n`,
  )
  return html`<nav class="breadcrumb" aria-label="Breadcrumb"><ol>
${items}</ol></nav>`
}
