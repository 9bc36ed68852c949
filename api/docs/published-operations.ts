/** Publishes a family's part of the contract from its operations and their schemas. */

import { z } from 'zod'
import type { ErrorEntry } from '../http/errors.ts'
import type { Operation, OperationFamily, Representation, RequestBody } from '../http/operation.ts'
import {
  addOnce,
  type Content,
  type Contract,
  type Json,
  type Parameter,
  type PublishedOperation,
  type PublishedResponse,
} from './contract.ts'
import { adaptToGenerators } from './generator-forms.ts'

export function publishOperations<Declared extends Operation>(family: OperationFamily<Declared>): Contract {
  const { prefix, tag, operations, securitySchemes = {} } = family
  const components = createComponents()
  const paths: Contract['paths'] = {}
  for (const operation of operations) {
    const path = `${prefix}${publishedPath(operation)}`
    const published = publish(operation, family, components)
    paths[path] = { ...paths[path], [operation.method.toLowerCase()]: published }
  }
  return { tags: [tag], paths, schemas: components.schemas, securitySchemes }
}

/** Writes parameters in braces: `/api/device/{device}`. */
function publishedPath({ path, publishedPath = path }: Operation): string {
  return publishedPath === '/' ? '' : publishedPath.replaceAll(/:(\w+)/g, '{$1}')
}

type Answer = { description: string; headers?: Json } & Representation

const jsonType = 'application/json'
const formType = 'application/x-www-form-urlencoded'
const eventsType = 'text/event-stream'

function publish<Declared extends Operation>(
  operation: Declared,
  { tag, error, refusalsOf }: OperationFamily<Declared>,
  components: Components,
): PublishedOperation {
  const { name, summary, description, body, success } = operation
  const places = ['path', 'query', 'header'] as const
  const parameters = places.flatMap(place => components.parameters(operation.parameters?.[place], place))
  const refusal = {
    [error.mediaType ?? jsonType]: { schema: components.reference(operation.error ?? error.schema, 'output') },
    ...textContent(error.text),
  }
  return {
    tags: [tag.name],
    summary,
    operationId: name,
    ...(description === undefined ? {} : { description }),
    security: securityOf(operation),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(body === undefined
      ? {}
      : { requestBody: { required: body.isOptional !== true, content: bodyContent(body, components) } }),
    responses: {
      [success.status]: responseOf(success, components),
      ...othersOf(operation, components),
      ...refusalResponses(refusalsOf(operation).toSorted(byStatus), refusal, error.headersOf),
    },
  }
}

function securityOf({
  credentials = [],
  scope,
  isCredentialOptional = false,
}: Operation): PublishedOperation['security'] {
  const scopes = scope === undefined ? [] : [scope]
  return [...(isCredentialOptional ? [{}] : []), ...credentials.map(scheme => ({ [scheme]: scopes }))]
}

function othersOf({ others = {} }: Operation, components: Components): PublishedOperation['responses'] {
  const responses = Object.entries(others).map(([status, answer]) => [status, responseOf(answer, components)])
  return Object.fromEntries(responses)
}

function responseOf({ description, headers, ...answer }: Answer, components: Components): PublishedResponse {
  return responseWith(description, headers, contentOf(answer, 'output', components))
}

/** Merges the errors of one status into one response. */
function refusalResponses(
  refusals: readonly ErrorEntry[],
  content: Content,
  headersOf: NonNullable<OperationFamily['error']['headersOf']> = () => ({}),
): PublishedOperation['responses'] {
  const byStatus = Map.groupBy(refusals, ({ status }) => status)
  const responses = [...byStatus].map(([status, same]) => {
    const headers: Json = Object.assign({}, ...same.map(headersOf))
    return [status, responseWith([...new Set(same.map(({ text }) => text))].join('; '), headers, content)]
  })
  return Object.fromEntries(responses)
}

function responseWith(description: string, headers: Json | undefined, content: Content): PublishedResponse {
  return {
    description,
    ...(headers === undefined || Object.keys(headers).length === 0 ? {} : { headers }),
    ...(Object.keys(content).length === 0 ? {} : { content }),
  }
}

/**
 * Text is binary, as a client sends it as it is. Texts beside another form state their charset: openapi-python-client sends
 * the last of several forms that are bytes, and has a function for each operation if all but one are left out by name.
 */
function bodyContent(body: RequestBody, components: Components): Content {
  const { text = [], ...others } = body
  const content = contentOf({ ...others, bytes: [...text, ...(others.bytes ?? [])] }, 'input', components)
  const [first] = Object.keys(content)
  const nameOf = (type: string) => (type === first || !text.includes(type) ? type : `${type}; charset=utf-8`)
  return Object.fromEntries(Object.entries(content).map(([type, media]) => [nameOf(type), media]))
}

function contentOf(
  { json, form, text, bytes, events }: Representation,
  direction: 'input' | 'output',
  components: Components,
): Content {
  return {
    ...(json === undefined ? {} : { [jsonType]: { schema: components.reference(json, direction) } }),
    ...(form === undefined ? {} : { [formType]: { schema: components.reference(form, direction) } }),
    ...textContent(text),
    ...textContent(bytes, 'binary'),
    ...(events === undefined ? {} : { [eventsType]: { schema: streamOf(components.reference(events, direction)) } }),
  }
}

function textContent(types: readonly string[] = [], format?: 'binary'): Content {
  const schema = { type: 'string', ...(format === undefined ? {} : { format }) }
  return Object.fromEntries(types.map(type => [type, { schema }]))
}

/** OpenAPI 3.1 has no schema for items of a stream, but JSON Schema describes the content of a text. */
function streamOf(event: Json): Json {
  return { type: 'string', contentMediaType: eventsType, contentSchema: { type: 'array', items: event } }
}

function byStatus(a: ErrorEntry, b: ErrorEntry): number {
  return a.status - b.status
}

/** `input` is a request, `output` an answer. */
type Direction = 'input' | 'output'

interface Components {
  schemas: Json
  reference(schema: z.ZodType, direction: Direction): Json
  /** One parameter for each member of the object. */
  parameters(schema: z.ZodType | undefined, place: Parameter['in']): Parameter[]
}

/** Collects the schemas of a contract as JSON Schema. Schemas with an id become components with references. */
function createComponents(): Components {
  const schemas: Json = {}

  function reference(schema: z.ZodType, direction: Direction): Json {
    const { definitions, own } = jsonSchemaOf(schema, direction)
    for (const [name, definition] of Object.entries(definitions)) addOnce(schemas, name, definition)
    const { id } = schema.meta() ?? {}
    if (id === undefined || own['$ref'] !== undefined) return own
    addOnce(schemas, id, own)
    return { $ref: `#/components/schemas/${id}` }
  }

  function parameters(schema: z.ZodType | undefined, place: Parameter['in']): Parameter[] {
    if (schema === undefined) return []
    const { definitions, own } = jsonSchemaOf(schema, 'input')
    // A schema with an id is among the definitions.
    const object = own['$ref'] === undefined ? own : Object.values(definitions)[0]
    const { properties = {}, required = [] } = object as { properties?: Record<string, Json>; required?: string[] }
    return Object.entries(properties).map(([name, { description, ...rest }]) => ({
      name,
      in: place,
      required: required.includes(name),
      ...(typeof description === 'string' ? { description } : {}),
      schema: rest,
    }))
  }

  return { schemas, reference, parameters }
}

/** References point to components in place of zod's definitions. */
function jsonSchemaOf(schema: z.ZodType, direction: Direction): { definitions: Record<string, Json>; own: Json } {
  const json = z.toJSONSchema(schema, { io: direction, unrepresentable: 'any' })
  const text = JSON.stringify(adaptToGenerators(json)).replaceAll('"#/$defs/', '"#/components/schemas/')
  const { $defs = {}, $schema: _, ...own } = JSON.parse(text) as Json & { $defs?: Record<string, Json> }
  const definitions = Object.entries($defs).map(([name, definition]) => [name, withoutId(definition)] as const)
  return { definitions: Object.fromEntries(definitions), own: withoutId(own) }
}

function withoutId({ id: _, ...rest }: Json): Json {
  return rest
}
