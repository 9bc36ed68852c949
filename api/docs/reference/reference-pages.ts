/** Renders the index of families and the page of a family with its operations. */

import { type Html, html } from '../../http/html.ts'
import { rootFrom } from '../../http/root-from.ts'
import type { OpenApiDocument } from '../contract.ts'
import type { DocsPage } from '../docs-layout.ts'
import type { Family, FamilyOperation } from './reference.ts'

export const referencePath = 'docs/api'
export const referenceTitle = 'API reference'

export function referencePage(families: readonly Family[], { openapi }: OpenApiDocument): DocsPage {
  const root = rootFrom(`/${referencePath}`)
  const sections = families.map(
    ({ path, title, description, operations }) => html`<h2 id="${idOf(path)}"><a href="${root}${path}">${title}</a></h2>
<p>${description}</p>
${operationTable(root, operations)}`,
  )
  const main = html`<h1>${referenceTitle}</h1>
<p>Every operation of the service has a page of its own. For programs: <a href="${root}openapi.json">/openapi.json</a> (OpenAPI ${openapi}).</p>
${sections}`
  const contents = families.map(({ path, title }) => ({ id: idOf(path), title }))
  return { path: referencePath, title: referenceTitle, contents, main }
}

export function familyPage({ path, title, description, operations }: Family): DocsPage {
  const root = rootFrom(`/${path}`)
  const main = html`<h1>${title}</h1>
<p>${description}</p>
${operationTable(root, operations)}`
  return { path, title, parents: [{ path: referencePath, title: referenceTitle }], contents: [], main }
}

function operationTable(root: string, operations: readonly FamilyOperation[]): Html {
  const rows = operations.map(
    ({ page, method, path, operation }) => html`<tr><td><a href="${root}${page}">${operation.summary}</a></td>
<td><code class="method">${method}</code> <code>${path}</code></td></tr>
`,
  )
  return html`<div class="table" tabindex="0"><table class="operations">
<thead><tr><th>Operation</th><th>Request</th></tr></thead>
<tbody>${rows}</tbody>
</table></div>
`
}

function idOf(path: string): string {
  return path.slice(`${referencePath}/`.length)
}
