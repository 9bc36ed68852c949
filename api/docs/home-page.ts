/** `/docs`: what there is to read. */

import { type Html, html } from '../http/html.ts'
import { rootFrom } from '../http/root-from.ts'
import { type DocsPage, homePath } from './docs-layout.ts'
import type { GuideGroup } from './guides/guides.ts'
import { referencePath, referenceTitle } from './reference/reference-pages.ts'

const root = rootFrom(`/${homePath}`)

export function homePage(groups: readonly GuideGroup[]): DocsPage {
  const main = html`<h1>Documentation</h1>
${groups.map(groupSection)}
<h2 id="api">${referenceTitle}</h2>
<p><a href="${root}${referencePath}">Every operation</a> with an example, its parameters and its answers: for administrators, and on the machine of the
service for everybody. For programs: <a href="${root}openapi.json">/openapi.json</a>.</p>
`
  return { path: homePath, title: 'Documentation', contents: [], main }
}

function groupSection({ title, guides }: GuideGroup, index: number): Html {
  const items = guides.map(
    ({ path, title, subject }) =>
      html`<li><a href="${root}${path}">${title}</a>${subject === '' ? undefined : html` – ${subject}`}</li>\n`,
  )
  return html`<h2 id="group-${index}">${title}</h2>\n<ul class="places">\n${items}</ul>\n`
}
