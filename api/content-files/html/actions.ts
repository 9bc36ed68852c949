/**
 * The buttons beside the title. What they open is a popover, which a browser opens without script; one that knows no
 * popovers shows it all in its place.
 */

import { type Html, html } from '../../http/html.ts'
import type { BrowsablePage, FilterForm } from '../browsable-page.ts'
import { exchange } from './exchange.ts'
import { filterForm, filtersCount, hasErrors } from './filter-form.ts'

export function actions({ get, options, filters }: BrowsablePage): Html {
  const formats = get.formats.map(({ name, href }) => html`<li><a href="${href}">${name}</a></li>\n`)
  return html`<div class="actions">
${filters && filtersButton(filters)}
${opener('options', html`OPTIONS`)}
<div class="split"><a class="button strong" href="${get.href}">GET</a>
<button class="button strong" type="button" popovertarget="formats" aria-label="GET in another format">▾</button></div>
<ul id="formats" popover>${formats}</ul>
${panel(
  'options',
  'OPTIONS',
  html`<p class="note">A page cannot send OPTIONS without script, so its answer is shown here.</p>
${exchange(options)}`,
)}
${filters && !hasErrors(filters) ? panel('filters', 'Filters', filterForm(filters)) : undefined}
</div>`
}

/** What has to be mended is in sight: the form stands in the page, not in a popover. */
export function openFilters(filters: FilterForm | undefined): Html | undefined {
  if (filters === undefined || !hasErrors(filters)) return undefined
  return html`<section id="filters" class="card" aria-labelledby="filters-title">
<h2 id="filters-title">Filters</h2>
${filterForm(filters)}</section>`
}

function filtersButton(filters: FilterForm): Html {
  const count = filtersCount(filters)
  const name = count === 0 ? html`Filters` : html`Filters <span class="count">${count}</span>`
  return hasErrors(filters) ? html`<a class="button" href="#filters">${name}</a>` : opener('filters', name)
}

function opener(id: string, name: Html): Html {
  return html`<button class="button" type="button" popovertarget="${id}">${name}</button>`
}

function panel(id: string, title: string, content: Html): Html {
  return html`<section id="${id}" class="panel" popover role="dialog" aria-labelledby="${id}-title">
<div class="panel-title"><h2 id="${id}-title">${title}</h2>
<button class="button" type="button" popovertarget="${id}" popovertargetaction="hide" autofocus aria-label="Close">×</button></div>
${content}</section>`
}
