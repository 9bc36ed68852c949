/**
 * Converts JSON Schema to forms that all client generators accept. Some of them ignore `propertyNames`, treat
 * `readOnly` members as absent from requests, reject `items: false`, accept only texts as constants, use 32-bit
 * integers, or lack a type for additional members beside named ones.
 */

import { isDeepStrictEqual } from 'node:util'
import type { Json } from './contract.ts'

/** Converts a schema and all schemas within it. */
export function adaptToGenerators(schema: Json): Json {
  const { readOnly: _, ...adapted } = Object.fromEntries(
    Object.entries(schema).map(([keyword, value]) => [keyword, adaptWithin(keyword, value)]),
  )
  return [withNames, withAnyOthers, withLength, withOneUnion, withEnum, withFormat].reduce(
    (json, form) => form(json),
    adapted,
  )
}

const schemasByName = ['properties', '$defs']
const schemaOrList = ['items', 'prefixItems', 'anyOf', 'oneOf', 'allOf', 'additionalProperties', 'contentSchema']

/** Other keywords hold values, which may look like schemas. Generators make no type of `not`. */
function adaptWithin(keyword: string, value: unknown): unknown {
  if (schemasByName.includes(keyword) && isSchema(value)) {
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, adaptValue(inner)]))
  }
  if (!schemaOrList.includes(keyword)) return value
  return Array.isArray(value) ? value.map(adaptValue) : adaptValue(value)
}

function adaptValue(value: unknown): unknown {
  return isSchema(value) ? adaptToGenerators(value) : value
}

function isSchema(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/**
 * Additional members beside named ones may have any type. A member d is not among the named ones there:
 * openapi-python-client reads the additional members from a variable of this name.
 */
function withAnyOthers(json: Json): Json {
  const { properties, additionalProperties, patternProperties } = json
  const hasNamed = isSchema(properties) && Object.keys(properties).length > 0
  if (!hasNamed || !isSchema(additionalProperties)) return json
  const { d, ...others } = properties
  const patterns = d === undefined ? {} : { patternProperties: Object.assign({}, patternProperties, { '^d$': d }) }
  return { ...json, properties: others, ...patterns, additionalProperties: {} }
}

/** Writes the names of a record as properties. `propertyNames` is redundant for texts. */
function withNames(json: Json): Json {
  const { propertyNames, ...rest } = json
  if (isDeepStrictEqual(propertyNames, { type: 'string' })) return rest
  if (!isSchema(propertyNames) || !Array.isArray(propertyNames['enum'])) return json
  const { additionalProperties = {} } = rest
  const properties = Object.fromEntries(propertyNames['enum'].map(name => [String(name), additionalProperties]))
  return { ...rest, properties, additionalProperties: false }
}

/** Writes a tuple as an array with a fixed length. */
function withLength(json: Json): Json {
  const { prefixItems, ...rest } = json
  if (!Array.isArray(prefixItems)) return json
  const [items, ...others] = prefixItems
  if (others.some(other => !isDeepStrictEqual(other, items))) throw new Error('the elements of a tuple differ')
  return { ...rest, items, minItems: prefixItems.length, maxItems: prefixItems.length }
}

/** Flattens a union within a nullable union. */
function withOneUnion(json: Json): Json {
  const { anyOf } = json
  if (!Array.isArray(anyOf)) return json
  const isUnion = (branch: Json) => Array.isArray(branch['anyOf']) && Object.keys(branch).length === 1
  return { ...json, anyOf: anyOf.flatMap((branch: Json) => (isUnion(branch) ? branch['anyOf'] : [branch])) }
}

function withEnum(json: Json): Json {
  const { const: constant, ...rest } = json
  return constant === undefined || typeof constant === 'string' ? json : { ...rest, enum: [constant] }
}

function withFormat(json: Json): Json {
  const { format, ...rest } = json
  // Null removes the format.
  if (format === null) return rest
  const { type, minimum = -Infinity, maximum = Infinity } = json
  const isOf32Bits = Number(minimum) >= -(2 ** 31) && Number(maximum) < 2 ** 31
  return type === 'integer' && !isOf32Bits ? { ...json, format: 'int64' } : json
}
