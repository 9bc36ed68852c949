/** A family's part of the contract, made of a list of its routes and of the schemas that check and answer them. */

import type { z } from 'zod'
import type { ErrorEntry } from '../http/errors.ts'
import { type Components, createComponents } from './components.ts'
import {
  type Content,
  type Contract,
  type Json,
  type PublishedOperation,
  type PublishedResponse,
  refusalResponses,
  type Tag,
} from './contract.ts'

export interface PublishedRoute {
  method: 'get' | 'post' | 'put' | 'patch' | 'delete'
  /** With parameters in braces: `/api/device/{device}`. */
  path: string
  /** Of the function in clients that are made of the contract. */
  name: string
  summary: string
  description?: string
  /** Names of security schemes, each of which is enough; without it, everybody may. */
  credentials?: readonly string[]
  /** Some are answered without any. */
  isCredentialOptional?: boolean
  /** Objects of parameters. */
  parameters?: Partial<Record<'path' | 'query' | 'header', z.ZodType>>
  body?: Representation & { isOptional?: boolean }
  success: { status: number; description: string } & Partial<Representation>
  /** Further responses that are no refusals. */
  others?: Record<number, PublishedResponse>
  refusals: readonly ErrorEntry[]
  /** Where it is another one than that of the family. */
  error?: z.ZodType
}

/** JSON of a schema, text or bytes of some media types, or any of them; or server-sent events. */
interface Representation {
  json?: z.ZodType
  text?: readonly string[]
  bytes?: readonly string[]
  /** Of one event. */
  events?: z.ZodType
}

export interface PublishedFamily {
  tag: Tag
  routes: readonly PublishedRoute[]
  /** The shape of its errors. */
  error: { schema: z.ZodType; mediaType?: string; text?: readonly string[] }
  /** Of every route, and of those with parameters in the path, which may be too long or impossible to decode. */
  refusals: { all: readonly ErrorEntry[]; paths: readonly ErrorEntry[] }
  securitySchemes?: Json
}

export function publishRoutes(family: PublishedFamily): Contract {
  const { tag, routes, error, securitySchemes = {} } = family
  const components = createComponents()
  const paths: Contract['paths'] = {}
  const refusalOf = ({ error: own = error.schema }: PublishedRoute): Content => ({
    [error.mediaType ?? jsonType]: { schema: components.reference(own, 'output') },
    ...textContent(error.text),
  })
  for (const route of routes) {
    const refusals = [...route.refusals, ...family.refusals.all, ...(hasParameters(route) ? family.refusals.paths : [])]
    const published = publish({ ...route, refusals }, tag.name, refusalOf(route), components)
    paths[route.path] = { ...paths[route.path], [route.method]: published }
  }
  return { tags: [tag], paths, schemas: components.schemas, securitySchemes }
}

function hasParameters({ path }: PublishedRoute): boolean {
  return path.includes('{')
}

const jsonType = 'application/json'
const eventsType = 'text/event-stream'

function publish(
  {
    name,
    summary,
    description,
    credentials = [],
    isCredentialOptional = false,
    body,
    success,
    others = {},
    refusals,
    ...route
  }: PublishedRoute,
  tag: string,
  refusal: Content,
  components: Components,
): PublishedOperation {
  const places = ['path', 'query', 'header'] as const
  const parameters = places.flatMap(place => components.parameters(route.parameters?.[place], place))
  const content = contentOf(success, 'output', components)
  return {
    ...{ tags: [tag], summary, operationId: name },
    ...(description === undefined ? {} : { description }),
    security: [...(isCredentialOptional ? [{}] : []), ...credentials.map(scheme => ({ [scheme]: [] }))],
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(body === undefined
      ? {}
      : { requestBody: { required: body.isOptional !== true, content: contentOf(body, 'input', components) } }),
    responses: {
      [success.status]: {
        description: success.description,
        ...(Object.keys(content).length === 0 ? {} : { content }),
      },
      ...others,
      ...refusalResponses(refusals.toSorted(byStatus), refusal),
    },
  }
}

function contentOf(
  { json, text, bytes, events }: Representation,
  direction: 'input' | 'output',
  components: Components,
): Content {
  return {
    ...(json === undefined ? {} : { [jsonType]: { schema: components.reference(json, direction) } }),
    ...textContent(text),
    ...textContent(bytes, 'binary'),
    ...(events === undefined ? {} : { [eventsType]: { schema: streamOf(components.reference(events, direction)) } }),
  }
}

function textContent(types: readonly string[] = [], format?: 'binary'): Content {
  const schema = { type: 'string', ...(format === undefined ? {} : { format }) }
  return Object.fromEntries(types.map(type => [type, { schema }]))
}

/** OpenAPI 3.1 has no schema for the items of a stream, but JSON Schema has one for what a text contains. */
function streamOf(event: Json): Json {
  return { type: 'string', contentMediaType: eventsType, contentSchema: { type: 'array', items: event } }
}

function byStatus(a: ErrorEntry, b: ErrorEntry): number {
  return a.status - b.status
}
