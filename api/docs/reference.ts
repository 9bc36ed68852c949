/** Renders the API reference: an index of the operations, a page for each family, and a page for each operation. */

import { Marked } from 'marked'
import { escapeHtml, type Html, html } from '../http/html.ts'
import { rootFrom } from '../http/page-document.ts'
import type { Content, Json, OpenApiDocument, Parameter, PublishedOperation } from './contract.ts'
import type { DocsPage } from './docs-layout.ts'
import { curlExample, exampleOf, membersOf } from './examples.ts'
import { capitalised } from './guides.ts'
import type { Section } from './search.ts'

export const referencePath = 'docs/api'
export const referenceTitle = 'API reference'

export interface Family {
  /** Path from the root: `docs/api/air-quality`. */
  path: string
  title: string
  description: string
  operations: FamilyOperation[]
}

interface FamilyOperation {
  /** `docs/api/logger/log_reading` */
  page: string
  method: string
  path: string
  operation: PublishedOperation
}

/** Ordered by their first operations. */
export function familiesOf({ paths, tags }: OpenApiDocument): Family[] {
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  )
  const byTag = Map.groupBy(operations, ({ operation }) => operation.tags[0] ?? 'others')
  return [...byTag].map(([name, operations]) => {
    const path = `${referencePath}/${name.replaceAll(' ', '-')}`
    return {
      path,
      title: capitalised(name),
      description: tags.find(tag => tag.name === name)?.description ?? '',
      operations: operations.map(each => ({ ...each, page: `${path}/${each.operation.operationId}` })),
    }
  })
}

export function operationSections({ title: family, operations }: Family): Section[] {
  return operations.map(({ page, method, path, operation }) => {
    const { summary, description = '', parameters = [], operationId } = operation
    const parameterTexts = parameters.map(({ name, description = '' }) => `${name}: ${description}`)
    const text = [`${method} ${path}`, description, ...parameterTexts, operationId].join(' ')
    return { address: page, title: summary, page: family, text, isOfApi: true }
  })
}

export function referencePage(families: readonly Family[], { openapi }: OpenApiDocument): DocsPage {
  const root = rootFrom(`/${referencePath}`)
  const idOf = ({ path }: Family) => path.slice(`${referencePath}/`.length)
  const sections = families.map(
    family => html`<h2 id="${idOf(family)}"><a href="${root}${family.path}">${family.title}</a></h2>
${paragraph(family.description)}${operationTable(root, family.operations)}`,
  )
  const main = html`<h1>${referenceTitle}</h1>
<p>Every operation of the service has a page of its own. For programs: <a href="${root}openapi.json">/openapi.json</a> (OpenAPI ${openapi}).</p>
${sections}`
  return {
    path: referencePath,
    title: referenceTitle,
    contents: families.map(family => ({ id: idOf(family), title: family.title })),
    // On a wide screen, the navigation already has a link to each family.
    hasContentsOnlyOnPhones: true,
    main,
  }
}

export function familyPage({ path, title, description, operations }: Family): DocsPage {
  const main = html`<h1>${title}</h1>
${paragraph(description)}${operationTable(rootFrom(`/${path}`), operations)}`
  return { path, title, parents: [{ path: referencePath, title: referenceTitle }], contents: [], main }
}

function operationTable(root: string, operations: readonly FamilyOperation[]): Html {
  const rows = operations.map(({ page, method, path, operation }) => [
    html`<a href="${root}${page}">${operation.summary}</a>`,
    requestOf(method, path),
  ])
  return table(['Operation', 'Request'], rows, 'operations')
}

function requestOf(method: string, path: string): Html {
  return html`<code class="method">${method}</code> <code>${path}</code>`
}

export function operationPage(family: Family, { page, ...of }: FamilyOperation, document: OpenApiDocument): DocsPage {
  const { summary, description, security = [] } = of.operation
  const sections = sectionsOf(of, document)
  const main = html`<h1>${summary}</h1>
<p>${requestOf(of.method, of.path)}</p>
${paragraph(description)}<p>Credentials: ${credentialsOf(security)}.</p>
${sections.map(({ id, title, content }) => html`<h2 id="${id}">${title}</h2>\n${content}`)}`
  const parents = [
    { path: referencePath, title: referenceTitle },
    { path: family.path, title: family.title },
  ]
  return { path: page, title: summary, parents, contents: sections.map(({ id, title }) => ({ id, title })), main }
}

function credentialsOf(security: PublishedOperation['security']): string {
  const alternatives = security.map(scheme =>
    Object.entries(scheme)
      .map(([name, scopes]) => [name, ...scopes].join(' '))
      .join(),
  )
  return alternatives.map(names => names || 'none').join(' or ') || 'none'
}

function sectionsOf(
  { method, path, operation }: Omit<FamilyOperation, 'page'>,
  { components }: OpenApiDocument,
): { id: string; title: string; content: Html }[] {
  const { parameters = [], requestBody, responses } = operation
  const schemas = schemasOf([parameters, requestBody, responses], components.schemas)
  const example = html`${code(curlExample(method, path, operation, components))}<p class="soft"><code>URL</code> is the address of the service. Replace the words in capitals.</p>
${answerExample(responses, components.schemas)}`
  const body =
    requestBody && html`<p>${contentTypes(requestBody.content)}${requestBody.required ? undefined : ', optional'}</p>\n`
  const answers = Object.entries(responses).map(([status, { description, content = {} }]) => [
    html`${status}`,
    markdown(description),
    contentTypes(content),
  ])
  return [
    { id: 'example', title: 'Example', content: example },
    {
      id: 'parameters',
      title: 'Parameters',
      content: parameters.length === 0 ? undefined : parameterTable(parameters),
    },
    { id: 'body', title: 'Body', content: body },
    { id: 'answers', title: 'Answers', content: table(['Status', 'Meaning', 'Body'], answers) },
    {
      id: 'schemas',
      title: 'Schemas',
      content: schemas.length === 0 ? undefined : html`${schemas.map(schemaSection)}`,
    },
  ].flatMap(({ content, ...section }) => (content === undefined ? [] : { ...section, content }))
}

/** The first successful answer, if it is JSON. */
function answerExample(responses: PublishedOperation['responses'], schemas: Json): Html | undefined {
  const [status, answer] = Object.entries(responses).find(([status]) => status < '300') ?? []
  const schema = answer?.content?.['application/json']?.schema
  if (schema === undefined) return undefined
  return html`<p>Answer, status ${status}:</p>
<div class="answer">${code(JSON.stringify(exampleOf(schema, schemas, ''), null, 2))}</div>
`
}

function parameterTable(parameters: readonly Parameter[]): Html {
  const fields = parameters.map(({ name, in: place, required, schema, description }) => ({
    path: place === 'query' ? `?${name}=` : place === 'header' ? `${name}:` : `{${name}}`,
    schema: { ...schema, description },
    isRequired: required,
  }))
  return fieldTable(fields, 'Parameter')
}

/** JSON has the name of its schema, other content its media type. */
function contentTypes(content: Content): Html {
  const types = Object.entries(content).map(([mediaType, { schema }]) => {
    const isText = referenceIn(schema) === undefined && schema['type'] === 'string'
    return isText ? html`${mediaType}` : typeOf(schema)
  })
  return joined(types, ', ')
}

/** Named schemas that `part` refers to, directly or through others, in the order of reference. */
function schemasOf(part: unknown, all: Json): [name: string, schema: Json][] {
  const names = new Set(referencesIn(part))
  // Iterating over a set includes elements that are added on the way.
  for (const name of names) for (const inner of referencesIn(all[name])) names.add(inner)
  return [...names].map(name => [name, all[name] as Json])
}

const referencePattern = /"\$ref":"#\/components\/schemas\/([^"]+)"/g

function referencesIn(part: unknown): string[] {
  return [...JSON.stringify(part).matchAll(referencePattern)].flatMap(([, name]) => name ?? [])
}

interface Field {
  /** `windows.24h.gap_count`, `data[].device`. */
  path: string
  schema: Json
  isRequired: boolean
}

/** One row for each field, with the fields of inner objects below it. Schemas other than objects are a sentence. */
function schemaSection([name, schema]: [name: string, schema: Json]): Html {
  const fields = fieldsOf(schema, '')
  return html`<h3 id="${name}">${name}</h3>
${paragraph(descriptionOf(schema))}${fields.length === 0 ? html`<p>${typeOf(schema)}</p>` : fieldTable(fields, 'Field')}`
}

function fieldTable(fields: readonly Field[], head: string): Html {
  const rows = fields.map(({ path, schema, isRequired }) => [
    html`<code>${path}</code>`,
    typeOf(schema),
    html`${isRequired ? 'required' : 'optional'}`,
    markdown(descriptionOf(schema)),
  ])
  return table([head, 'Type', 'Needed', 'Meaning'], rows)
}

function table(heads: readonly string[], rows: readonly (readonly Html[])[], name?: string): Html {
  return html`<div class="table" tabindex="0"><table${name && html` class="${name}"`}>
<thead><tr>${heads.map(head => html`<th>${head}</th>`)}</tr></thead>
<tbody>${rows.map(cells => html`<tr>${cells.map(cell => html`<td>${cell}</td>`)}</tr>\n`)}</tbody>
</table></div>
`
}

function code(text: string): Html {
  return html`<pre tabindex="0"><code>${text}</code></pre>\n`
}

/** HTML in a description is shown as text. */
const descriptions = new Marked({ renderer: { html: ({ text }) => escapeHtml(text) } })

function markdown(text: string): Html {
  return { markup: descriptions.parseInline(text, { async: false }) }
}

function paragraph(text = ''): Html | undefined {
  return text === '' ? undefined : html`<p>${markdown(text)}</p>\n`
}

/** `integer, 1 to 72`, `"ok" or "degraded"`, `array of Point`, with links to the schemas that have a name. */
function typeOf(schema: Json): Html {
  const name = referenceIn(schema)
  if (name !== undefined) return html`<a href="#${name}">${name}</a>`
  const branches = branchesOf(schema)
  if (branches !== undefined) return joined(branches.map(typeOf), ' or ')
  const { type, items, enum: values } = schema
  if (Array.isArray(values)) return html`${values.map(value => JSON.stringify(value)).join(', ')}`
  if ('const' in schema) return html`${JSON.stringify(schema['const'])}`
  if (type === 'array' && isSchema(items)) return html`array of ${typeOf(items)}`
  return html`${[[type ?? 'any value'].flat().join(' or '), ...limitsOf(schema)].join(', ')}`
}

function joined(types: readonly Html[], separator: string): Html {
  return html`${types.map((type, index) => (index === 0 ? type : html`${separator}${type}`))}`
}

/** Leaves out the bounds of safe integers. */
function limitsOf({ format, minimum, maximum, minLength, maxLength, maxItems, default: usual }: Json): string[] {
  const bound = (word: string, value: unknown, unit = '') =>
    typeof value === 'number' && Math.abs(value) !== Number.MAX_SAFE_INTEGER ? [`${word} ${value}${unit}`] : []
  return [
    ...(typeof format === 'string' ? [format] : []),
    ...bound('from', minimum),
    ...bound('to', maximum),
    ...bound('at least', minLength, ' characters'),
    ...bound('at most', maxLength, ' characters'),
    ...bound('at most', maxItems, ' items'),
    ...(usual === undefined ? [] : [`default ${JSON.stringify(usual)}`]),
  ]
}

function fieldsOf(schema: Json, path: string): Field[] {
  const { required, additionalProperties } = schema
  const names: unknown[] = Array.isArray(required) ? required : []
  const fields = Object.entries(membersOf(schema)).flatMap(([name, inner]) => {
    const at = path === '' ? name : `${path}.${name}`
    return [{ path: at, schema: inner, isRequired: names.includes(name) }, ...innerFields(inner, at)]
  })
  // A record has one row for all names.
  const more = isSchema(additionalProperties) ? innerFields(additionalProperties, `${path}.<name>`) : []
  return [...fields, ...more]
}

function innerFields(schema: Json, path: string): Field[] {
  if (referenceIn(schema) !== undefined) return []
  if (isSchema(schema['items'])) return innerFields(schema['items'], `${path}[]`)
  return branchesOf(schema)?.flatMap(branch => innerFields(branch, path)) ?? fieldsOf(schema, path)
}

function branchesOf({ anyOf, oneOf }: Json): Json[] | undefined {
  const branches = anyOf ?? oneOf
  return Array.isArray(branches) ? branches.filter(isSchema) : undefined
}

function referenceIn(schema: Json): string | undefined {
  return typeof schema['$ref'] === 'string' ? schema['$ref'].split('/').at(-1) : undefined
}

function descriptionOf({ description }: Json): string {
  return typeof description === 'string' ? description : ''
}

function isSchema(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
