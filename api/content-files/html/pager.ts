/** The numbers of the pages, with the pages before and after at the ends. */

import { type Html, html } from '../../http/html.ts'
import type { Pager } from '../browsable-page.ts'

/** The page has it above and below; each has a name, since a screen reader lists both. */
export function pager({ previous, next, pages }: Pager, name: string): Html {
  return html`<nav class="pager" aria-label="${name}"><ul>
<li>${step('«', 'Previous page', 'prev', previous)}</li>
${pages.map(page => html`<li>${pageLink(page)}</li>\n`)}<li>${step('»', 'Next page', 'next', next)}</li>
</ul></nav>`
}

function pageLink(page: Pager['pages'][number]): Html {
  if (page === 'gap') return html`<span class="gap">…</span>`
  const current = page.isCurrent ? html` aria-current="page"` : undefined
  return html`<a href="${page.href}" aria-label="Page ${page.number}"${current}>${page.number}</a>`
}

function step(sign: string, name: string, rel: 'prev' | 'next', href: string | undefined): Html {
  if (href === undefined) return html`<span class="off" aria-hidden="true">${sign}</span>`
  return html`<a href="${href}" rel="${rel}" aria-label="${name}">${sign}</a>`
}
