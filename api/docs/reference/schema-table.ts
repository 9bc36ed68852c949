/** Renders a schema as a table: one row for each field, with the fields of inner objects below it. */

import { type Html, html } from '../../http/html.ts'
import type { Json } from '../contract.ts'

interface Field {
  /** `windows.24h.gap_count`, `data[].device`. */
  path: string
  schema: Json
  isRequired: boolean
}

/** Rows of an object. Other schemas are a sentence. */
export function schemaView(schema: Json): Html {
  const fields = fieldsOf(schema, '')
  const type = fields.length === 0 ? html`<p>${typeOf(schema)}</p>` : undefined
  return html`${descriptionOf(schema)}${type}${fields.length === 0 ? undefined : fieldTable(fields)}`
}

export function fieldTable(fields: readonly Field[], head = 'Field'): Html {
  const rows = fields.map(
    ({ path, schema, isRequired }) => html`<tr><td><code>${path}</code></td><td>${typeOf(schema)}</td>
<td>${isRequired ? 'required' : 'optional'}</td><td>${descriptionText(schema)}</td></tr>
`,
  )
  return html`<div class="table" tabindex="0"><table>
<thead><tr><th>${head}</th><th>Type</th><th>Needed</th><th>Meaning</th></tr></thead>
<tbody>${rows}</tbody>
</table></div>
`
}

/** `integer, 1 to 72`, `"ok" or "degraded"`, `array of Point`, with links to the schemas that have a name. */
export function typeOf(schema: Json): Html {
  const name = referenceIn(schema)
  if (name !== undefined) return html`<a href="#${name}">${name}</a>`
  const branches = branchesOf(schema)
  if (branches !== undefined) return joined(branches.map(typeOf))
  if (Array.isArray(schema['enum']))
    return html`${(schema['enum'] as unknown[]).map(value => JSON.stringify(value)).join(', ')}`
  if ('const' in schema) return html`${JSON.stringify(schema['const'])}`
  const { type, items } = schema
  if (type === 'array' && isSchema(items)) return html`array of ${typeOf(items)}`
  return html`${[String(type ?? 'any value'), ...limitsOf(schema)].join(', ')}`
}

function joined(types: readonly Html[]): Html {
  return html`${types.map((type, index) => (index === 0 ? type : html` or ${type}`))}`
}

/** Leaves out the bounds of safe integers. */
function limitsOf({ format, minimum, maximum, minLength, maxLength, maxItems, default: usual }: Json): string[] {
  const bound = (word: string, value: unknown) =>
    typeof value === 'number' && Math.abs(value) !== Number.MAX_SAFE_INTEGER ? [`${word} ${value}`] : []
  return [
    ...(typeof format === 'string' ? [format] : []),
    ...bound('from', minimum),
    ...bound('to', maximum),
    ...(typeof minLength === 'number' ? [`at least ${minLength} characters`] : []),
    ...(typeof maxLength === 'number' ? [`at most ${maxLength} characters`] : []),
    ...(typeof maxItems === 'number' ? [`at most ${maxItems} items`] : []),
    ...(usual === undefined ? [] : [`default ${JSON.stringify(usual)}`]),
  ]
}

function fieldsOf(schema: Json, path: string): Field[] {
  const { properties, required, additionalProperties } = schema
  const names = Array.isArray(required) ? (required as unknown[]) : []
  const own = isSchema(properties) ? Object.entries(properties).filter(isSchemaEntry) : []
  const fields = own.flatMap(([name, inner]) => {
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
  const branches = branchesOf(schema)
  return branches === undefined ? fieldsOf(schema, path) : branches.flatMap(branch => innerFields(branch, path))
}

function branchesOf({ anyOf, oneOf }: Json): Json[] | undefined {
  const branches = anyOf ?? oneOf
  return Array.isArray(branches) ? branches.filter(isSchema) : undefined
}

export function referenceIn(schema: Json): string | undefined {
  return typeof schema['$ref'] === 'string' ? schema['$ref'].split('/').at(-1) : undefined
}

function descriptionText({ description }: Json): string {
  return typeof description === 'string' ? description : ''
}

function descriptionOf(schema: Json): Html | undefined {
  const text = descriptionText(schema)
  return text === '' ? undefined : html`<p>${text}</p>\n`
}

function isSchema(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isSchemaEntry(entry: [string, unknown]): entry is [string, Json] {
  return isSchema(entry[1])
}
