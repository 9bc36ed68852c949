/** The published contract as a page that a person can read, without script: by family, with an anchor for each operation. */

import { type Html, html } from '../http/html.ts'
import type { Content, OpenApiDocument, Parameter, PublishedOperation } from './contract.ts'
import type { ContentsEntry, DocsPage } from './docs-layout.ts'
import { fieldTable, referenceIn, schemaView, typeOf } from './schema-table.ts'

interface Family {
  id: string
  name: string
  description: string | undefined
  operations: { method: string; path: string; operation: PublishedOperation }[]
}

export function operationsPage(document: OpenApiDocument): DocsPage {
  const families = familiesOf(document)
  const schemas = Object.entries(document.components.schemas as Record<string, Record<string, unknown>>)
  const main = html`<h1>Operations</h1>
<p>For programs: <a href="/openapi.json">/openapi.json</a> (OpenAPI ${document.openapi}).</p>
${families.map(familySection)}
<h2 id="schemas">Schemas</h2>
${schemas.map(([name, schema]) => html`<h3 id="${name}">${name}</h3>\n${schemaView(schema)}`)}`
  const contents: ContentsEntry[] = [
    ...families.map(({ id, name, operations }) => ({
      id,
      title: titleOf(name),
      entries: operations.map(({ operation }) => ({ id: operation.operationId, title: operation.summary })),
    })),
    { id: 'schemas', title: 'Schemas', entries: schemas.map(([name]) => ({ id: name, title: name })) },
  ]
  return { path: '/docs', title: 'Operations', contents, main }
}

/** In the order of their first operations. */
function familiesOf({ paths, tags }: OpenApiDocument): Family[] {
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  )
  const byTag = Map.groupBy(operations, ({ operation }) => operation.tags[0] ?? 'others')
  return [...byTag].map(([name, operations]) => ({
    id: `family-${name.replaceAll(' ', '-')}`,
    name,
    operations,
    description: tags.find(tag => tag.name === name)?.description,
  }))
}

function titleOf(name: string): string {
  return `${name.slice(0, 1).toUpperCase()}${name.slice(1)}`
}

function familySection({ id, name, description, operations }: Family): Html {
  return html`<h2 id="${id}">${titleOf(name)}</h2>
${description === undefined ? undefined : html`<p>${description}</p>\n`}${operations.map(operationSection)}`
}

function operationSection({ method, path, operation }: Family['operations'][number]): Html {
  const { summary, description, operationId, requestBody, parameters = [], security = [], responses } = operation
  const answers = Object.entries(responses).map(
    ([status, { description, content = {} }]) =>
      html`<tr><td>${status}</td><td>${description}</td><td>${contentTypes(content)}</td></tr>\n`,
  )
  return html`<h3 id="${operationId}">${summary}</h3>
<p><code class="method">${method}</code> <code>${path}</code></p>
${description === undefined ? undefined : html`<p>${description}</p>\n`}
${security.length === 0 ? undefined : html`<p class="soft">Credentials: ${credentialsOf(security)}</p>\n`}
${parameters.length === 0 ? undefined : html`<h4>Parameters</h4>\n${parameterTable(parameters)}`}
${requestBody === undefined ? undefined : html`<h4>Body</h4>\n<p>${contentTypes(requestBody.content)}</p>\n`}
<h4>Answers</h4>
<div class="table" tabindex="0"><table>
<thead><tr><th>Status</th><th>Meaning</th><th>Body</th></tr></thead>
<tbody>${answers}</tbody>
</table></div>
`
}

function credentialsOf(security: readonly Record<string, string[]>[]): string {
  return security
    .map(
      scheme =>
        Object.entries(scheme)
          .map(([name, scopes]) => [name, ...scopes].join(' '))
          .join() || 'none',
    )
    .join(' or ')
}

function parameterTable(parameters: readonly Parameter[]): Html {
  return fieldTable(
    parameters.map(({ name, in: place, required, schema, description }) => ({
      path: place === 'query' ? `?${name}=` : place === 'header' ? `${name}:` : `{${name}}`,
      schema: { ...schema, description },
      isRequired: required,
    })),
    'Parameter',
  )
}

/** Schemas by their names; text, and what is no JSON, by its media type. */
function contentTypes(content: Content): Html {
  const types = Object.entries(content).map(([mediaType, { schema }]) => {
    const isText = referenceIn(schema) === undefined && schema['type'] === 'string'
    return isText ? html`${mediaType}` : typeOf(schema)
  })
  return html`${types.map((type, index) => (index === 0 ? type : html`, ${type}`))}`
}
