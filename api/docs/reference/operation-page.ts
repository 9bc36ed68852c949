/** The page of one operation: an example, parameters, body, answers, and the schemas that these refer to. */

import { type Html, html } from '../../http/html.ts'
import type { Content, OpenApiDocument, Parameter, PublishedOperation } from '../contract.ts'
import type { ContentsEntry, DocsPage } from '../docs-layout.ts'
import { curlExample } from './curl-example.ts'
import { type Family, type FamilyOperation, schemasOf } from './reference.ts'
import { referencePath, referenceTitle } from './reference-pages.ts'
import { fieldTable, referenceIn, schemaView, typeOf } from './schema-table.ts'

interface Section {
  id: string
  title: string
  content: Html
  entries?: ContentsEntry[]
}

export function operationPage(family: Family, { page, ...of }: FamilyOperation, document: OpenApiDocument): DocsPage {
  const { summary, description, security = [] } = of.operation
  const sections = sectionsOf(of, document)
  const main = html`<h1>${summary}</h1>
<p><code class="method">${of.method}</code> <code>${of.path}</code></p>
${description === undefined ? undefined : html`<p>${description}</p>\n`}<p>Credentials: ${credentialsOf(security)}.</p>
${sections.map(({ id, title, content }) => html`<h2 id="${id}">${title}</h2>\n${content}`)}`
  return {
    path: page,
    title: summary,
    parents: [
      { path: referencePath, title: referenceTitle },
      { path: family.path, title: family.title },
    ],
    contents: sections.map(({ id, title }) => ({ id, title })),
    main,
  }
}

function sectionsOf({ method, path, operation }: Omit<FamilyOperation, 'page'>, document: OpenApiDocument): Section[] {
  const { parameters = [], requestBody, responses } = operation
  const schemas = schemasOf([parameters, requestBody, responses], document.components.schemas)
  const example = html`<pre tabindex="0"><code>${curlExample(method, path, operation, document.components)}</code></pre>
<p class="soft"><code>URL</code> is the address of the service. Replace the words in capitals.</p>
`
  const body =
    requestBody && html`<p>${contentTypes(requestBody.content)}${requestBody.required ? undefined : ', optional'}</p>\n`
  return [
    { id: 'example', title: 'Example', content: example },
    ...(parameters.length === 0
      ? []
      : [{ id: 'parameters', title: 'Parameters', content: parameterTable(parameters) }]),
    ...(body === undefined ? [] : [{ id: 'body', title: 'Body', content: body }]),
    { id: 'answers', title: 'Answers', content: answerTable(responses) },
    ...(schemas.length === 0 ? [] : [{ id: 'schemas', title: 'Schemas', content: schemaSections(schemas) }]),
  ]
}

function schemaSections(schemas: ReturnType<typeof schemasOf>): Html {
  return html`${schemas.map(([name, schema]) => html`<h3 id="${name}">${name}</h3>\n${schemaView(schema)}`)}`
}

function answerTable(responses: PublishedOperation['responses']): Html {
  const answers = Object.entries(responses).map(
    ([status, { description, content = {} }]) =>
      html`<tr><td>${status}</td><td>${description}</td><td>${contentTypes(content)}</td></tr>\n`,
  )
  return html`<div class="table" tabindex="0"><table>
<thead><tr><th>Status</th><th>Meaning</th><th>Body</th></tr></thead>
<tbody>${answers}</tbody>
</table></div>
`
}

function credentialsOf(security: PublishedOperation['security']): string {
  if (security.length === 0) return 'none'
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
