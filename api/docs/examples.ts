/** Builds example values of schemas, and a curl command for an operation. */

import type { Json, OpenApiDocument, PublishedOperation } from './contract.ts'

/** No schema of the API is deeper. A recursive schema ends here. */
const depthMax = 12

/** Builds a value with the required members of a schema. A text without a form is its name in capitals. */
export function exampleOf(schema: Json, schemas: Json, name: string, depth = 0): unknown {
  const of = (inner: unknown, innerName = name) => exampleOf(inner as Json, schemas, innerName, depth + 1)
  if (depth > depthMax) return null
  const reference = schema['$ref']
  if (typeof reference === 'string') return of(schemas[reference.split('/').at(-1) ?? ''])
  const given = givenIn(schema)
  if (given !== undefined) return given
  const branches = (schema['anyOf'] ?? schema['oneOf'] ?? schema['allOf']) as Json[] | undefined
  if (branches !== undefined) return of(branches.find(({ type }) => type !== 'null') ?? branches[0])
  if (schema['type'] === 'null') return null
  const type = [schema['type']].flat().find(each => each !== 'null')
  if (type === 'object') return objectOf(schema, of)
  if (type === 'array') return arrayOf(schema, of)
  if (type === 'string') return formats[String(schema['format'])] ?? capitals(name)
  if (type === 'boolean') return true
  return numberOf(schema)
}

function givenIn({ examples, const: constant, enum: values, default: usual }: Json): unknown {
  if (Array.isArray(examples)) return examples[0]
  if (constant !== undefined) return constant
  return Array.isArray(values) ? values[0] : usual
}

/** Without required members, the first one is included, as an empty object would change nothing. */
function objectOf(schema: Json, of: (inner: unknown, name: string) => unknown): Json {
  const members = Object.entries(membersOf(schema))
  const { required } = schema
  const names = Array.isArray(required) && required.length > 0 ? required : members.slice(0, 1).map(([name]) => name)
  const chosen = members.filter(([name]) => names.includes(name))
  return Object.fromEntries(chosen.map(([name, inner]) => [name, of(inner, name)]))
}

/** The named members of an object, also those that are a pattern of one name (generator-forms.ts). */
export function membersOf({ properties, patternProperties }: Json): Record<string, Json> {
  const patterns = Object.entries(Object.assign({}, patternProperties))
  const named = patterns.flatMap(([pattern, schema]) => {
    const [, name] = /^\^(\w+)\$$/.exec(pattern) ?? []
    return name === undefined ? [] : [[name, schema]]
  })
  return Object.assign({}, properties, Object.fromEntries(named))
}

function arrayOf({ items = {}, minItems, maxItems }: Json, of: (inner: unknown) => unknown): unknown[] {
  const length = Math.min(Math.max(1, Number(minItems ?? 1)), Number(maxItems ?? Number.POSITIVE_INFINITY))
  return Array.from({ length }, () => of(items))
}

const formats: Record<string, string> = {
  'date-time': '2026-10-01T12:00:00Z',
  date: '2026-10-01',
  email: 'ada@example.com',
  uri: 'https://example.com',
}

function capitals(name: string): string {
  return name.toUpperCase().replaceAll(/[^A-Z0-9]/g, '_')
}

function numberOf({ minimum, maximum, exclusiveMinimum }: Json): number {
  const least = Number(minimum ?? (exclusiveMinimum === undefined ? 1 : Number(exclusiveMinimum) + 1))
  return Math.min(Math.max(1, least), Number(maximum ?? Number.POSITIVE_INFINITY))
}

const lineLengthMax = 80

/** A curl command with the required members and valid values. */
export function curlExample(
  method: string,
  path: string,
  { parameters = [], requestBody, responses, security = [] }: PublishedOperation,
  { schemas, securitySchemes }: OpenApiDocument['components'],
): string {
  const required = parameters.filter(({ required }) => required)
  const query = required
    .filter(each => each.in === 'query')
    .map(({ name, schema }) => `${name}=${encodeURIComponent(String(exampleOf(schema, schemas, name)))}`)
  const headers = required.filter(each => each.in === 'header').map(({ name }) => `-H '${name}: ${capitals(name)}'`)
  const address = `"$URL${path.replaceAll(/\{(\w+)\}/g, (_, name: string) => capitals(name))}${query.length === 0 ? '' : `?${query.join('&')}`}"`
  const isStream = Object.values(responses).some(({ content = {} }) => 'text/event-stream' in content)
  const request = ['curl', ...(isStream ? ['-N'] : []), ...(method === 'GET' ? [] : [`-X ${method}`]), address].join(
    ' ',
  )
  const options = [...credentialOf(security, securitySchemes), ...headers, ...bodyOf(requestBody, schemas)]
  const line = [request, ...options].join(' ')
  return line.length <= lineLengthMax ? line : [request, ...options].join(' \\\n  ')
}

/** Prefers credentials of programs to a cookie. */
function credentialOf(security: PublishedOperation['security'], securitySchemes: Json): string[] {
  const names = security.map(scheme => Object.keys(scheme)[0])
  if (names.includes(undefined)) return []
  const schemes = names.map(name => ({ name, scheme: securitySchemes[name as string] as Json }))
  const chosen = schemes.find(({ scheme }) => scheme['in'] !== 'cookie') ?? schemes[0]
  return chosen === undefined ? [] : [credentialText(chosen.name, chosen.scheme)]
}

function credentialText(name: string | undefined, { type, scheme, in: place, name: field }: Json): string {
  if (type === 'http' && scheme === 'basic') return name === 'device' ? '-u DEVICE:PASSWORD' : '-u KEY:'
  if (type === 'http') return "-H 'authorization: Bearer KEY'"
  if (place === 'cookie') return `-b '${field}=SESSION'`
  return name === 'influxToken' ? `-H '${field}: Token KEY'` : `-H '${field}: KEY'`
}

/** JSON is inline, other types are a file. */
function bodyOf(requestBody: PublishedOperation['requestBody'], schemas: Json): string[] {
  if (requestBody?.required !== true) return []
  const { content } = requestBody
  const json = content['application/json']?.schema
  if (json === undefined) return [`-H 'content-type: ${Object.keys(content)[0]}'`, '--data-binary @FILE']
  const text = JSON.stringify(exampleOf(json, schemas, ''))
  return ["-H 'content-type: application/json'", `-d '${text.replaceAll("'", "'\\''")}'`]
}
