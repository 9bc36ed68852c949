/** A value that a schema takes, with what it requires and no more. A text that could be any is its name in capitals. */

import type { Json } from '../contract.ts'

/** Deeper schemas of ours do not exist; one that refers to itself ends here. */
const depthMax = 12

export function exampleOf(schema: Json, schemas: Json, name: string, depth = 0): unknown {
  const of = (inner: unknown, innerName = name) => exampleOf(inner as Json, schemas, innerName, depth + 1)
  if (depth > depthMax) return null
  const reference = schema['$ref']
  if (typeof reference === 'string') return of(schemas[reference.split('/').at(-1) ?? ''])
  const given = givenIn(schema)
  if (given !== undefined) return given
  const branches = (schema['anyOf'] ?? schema['oneOf'] ?? schema['allOf']) as Json[] | undefined
  if (branches !== undefined) return of(branches.find(({ type }) => type !== 'null') ?? branches[0])
  if (schema['type'] === 'object') return objectOf(schema, of)
  if (schema['type'] === 'array')
    return Array.from({ length: Number(schema['minItems'] ?? 1) || 1 }, () => of(schema['items'] ?? {}))
  if (schema['type'] === 'string') return textOf(schema, name)
  if (schema['type'] === 'boolean') return true
  return numberOf(schema)
}

function givenIn({ examples, const: constant, enum: values, default: usual }: Json): unknown {
  if (Array.isArray(examples)) return examples[0]
  if (constant !== undefined) return constant
  return Array.isArray(values) ? values[0] : usual
}

/** Where nothing is required, the first member alone, as an empty object would change nothing. */
function objectOf({ properties = {}, required }: Json, of: (inner: unknown, name: string) => unknown): Json {
  const members = Object.entries(properties as Json)
  const names = Array.isArray(required) && required.length > 0 ? required : members.slice(0, 1).map(([name]) => name)
  const chosen = members.filter(([name]) => names.includes(name))
  return Object.fromEntries(chosen.map(([name, inner]) => [name, of(inner, name)]))
}

const formats: Record<string, string> = {
  'date-time': '2026-10-01T12:00:00Z',
  date: '2026-10-01',
  email: 'ada@example.com',
  uri: 'https://example.com',
}

function textOf({ format }: Json, name: string): string {
  return formats[String(format)] ?? capitals(name)
}

export function capitals(name: string): string {
  return name.toUpperCase().replaceAll(/[^A-Z0-9]/g, '_')
}

function numberOf({ minimum, maximum, exclusiveMinimum }: Json): number {
  const least = Number(minimum ?? (exclusiveMinimum === undefined ? 1 : Number(exclusiveMinimum) + 1))
  return Math.min(Math.max(1, least), Number(maximum ?? Number.POSITIVE_INFINITY))
}
