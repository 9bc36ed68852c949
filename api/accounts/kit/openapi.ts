/** The published contract (OpenAPI 3.1.0), made of the operations and their schemas. */

import { z } from 'zod'
import { type Principal, policy } from '../../../auth/policy.ts'
import { type ErrorCode, errors } from './errors.ts'
import type { Operation, Success } from './operation.ts'

export interface PublishedOperations {
  prefix: string
  tag: string
  operations: readonly Operation[]
}

type Json = Record<string, unknown>

export interface OpenApiDocument extends Json {
  openapi: '3.1.0'
  info: { title: string; version: string }
  paths: Record<string, Record<string, PublishedOperation>>
}

export interface PublishedOperation extends Json {
  tags: string[]
  summary: string
  operationId: string
  responses: Record<string, { description: string }>
}

const contractVersion = '0.1.0'

export function createOpenApi(families: readonly PublishedOperations[]): OpenApiDocument {
  const schemas: Json = { ...errorSchemas }
  const paths: OpenApiDocument['paths'] = {}
  for (const { prefix, tag, operations } of families) {
    for (const operation of operations) {
      const path = `${prefix}${operation.url.replaceAll(/:(\w+)/g, '{$1}')}`
      const published = publish(operation, path, tag, schemas)
      paths[path] = { ...paths[path], [operation.method.toLowerCase()]: published }
    }
  }
  const info = { title: 'Barograph', version: contractVersion }
  return { openapi: '3.1.0', info, paths, components: { schemas, securitySchemes } }
}

function publish(operation: Operation, path: string, tag: string, schemas: Json): PublishedOperation {
  const { body, permission, summary, success } = operation
  const parameters = [...parametersIn(operation.path, 'path'), ...parametersIn(operation.query, 'query')]
  const content = contentOf(success, schemas)
  return {
    tags: [tag],
    summary,
    operationId: operationId(operation, path),
    ...(permission === undefined ? {} : { security: securityOf(permission) }),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(body === undefined
      ? {}
      : {
          requestBody: {
            required: true,
            content: { 'application/json': { schema: reference(body, 'input', schemas) } },
          },
        }),
    responses: {
      [success.status]: { description: success.description, ...(content === undefined ? {} : { content }) },
      ...refusalsOf(operation.refusals),
      ...(body === undefined && parameters.length === 0 ? {} : { 422: validationResponse }),
    },
  }
}

function contentOf(success: Success, schemas: Json): Json | undefined {
  if ('isPage' in success) return { 'text/html': { schema: { type: 'string' } } }
  return success.schema && { 'application/json': { schema: reference(success.schema, 'output', schemas) } }
}

/** As FastAPI makes it: the function, the path with underscores, the method. */
function operationId({ name, method }: Operation, path: string): string {
  return `${name}${path.replaceAll(/\W/g, '_')}_${method.toLowerCase()}`
}

function refusalsOf(codes: readonly ErrorCode[]): Record<string, { description: string }> {
  const byStatus = new Map<number, string[]>()
  for (const code of codes) {
    const { status, detail } = errors[code]
    byStatus.set(status, [...(byStatus.get(status) ?? []), detail])
  }
  return Object.fromEntries(
    [...byStatus].map(([status, details]) => [status, { description: details.join('; '), content: errorContent }]),
  )
}

/** The schema itself goes to the components, with those that it is made of. */
function reference(schema: z.ZodType, io: 'input' | 'output', schemas: Json): Json {
  const {
    $defs = {},
    $schema: _,
    ...own
  } = z.toJSONSchema(schema, { io, unrepresentable: 'any' }) as Json & {
    $defs?: Json
  }
  const renamed = (value: Json): Json =>
    JSON.parse(JSON.stringify(value).replaceAll('"#/$defs/', '"#/components/schemas/'))
  for (const [name, definition] of Object.entries($defs)) schemas[name] = renamed(withoutId(definition as Json))
  const { id } = schema.meta() ?? {}
  if (id === undefined || own['$ref'] !== undefined) return renamed(own)
  schemas[id] = renamed(withoutId(own))
  return { $ref: `#/components/schemas/${id}` }
}

function withoutId({ id: _, ...rest }: Json): Json {
  return rest
}

function parametersIn(schema: z.ZodType | undefined, place: 'path' | 'query'): Json[] {
  if (schema === undefined) return []
  const scratch: Json = {}
  reference(schema, 'input', scratch)
  const [object] = Object.values(scratch) as { properties?: Record<string, Json>; required?: string[] }[]
  const { properties = {}, required = [] } = object ?? {}
  return Object.entries(properties).map(([name, property]) => ({
    ...{ name, in: place, required: required.includes(name), schema: property },
  }))
}

const securityNames: Record<Principal['kind'], string> = {
  session: 'session',
  bearer: 'bearer',
  key: 'apiKey',
  service: 'serviceSecret',
  // Of no published operation.
  'admin-token': 'adminToken',
}

function securityOf(permission: keyof typeof policy): Json[] {
  const verdicts = Object.entries(policy[permission]) as [Principal['kind'], string][]
  return verdicts
    .filter(([, verdict]) => verdict === 'yes' || verdict === 'own')
    .map(([kind]) => ({ [securityNames[kind]]: [] }))
}

const securitySchemes = {
  session: { type: 'apiKey', in: 'cookie', name: 'authjs.session-token' },
  bearer: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' },
  apiKey: { type: 'apiKey', in: 'header', name: 'X-API-Key' },
  serviceSecret: { type: 'apiKey', in: 'header', name: 'X-Service-Secret' },
}

const errorSchemas: Json = {
  HTTPValidationError: {
    title: 'HTTPValidationError',
    type: 'object',
    properties: { detail: { title: 'Detail', type: 'array', items: { $ref: '#/components/schemas/ValidationError' } } },
  },
  ValidationError: {
    title: 'ValidationError',
    type: 'object',
    properties: {
      type: { title: 'Error Type', type: 'string' },
      loc: { title: 'Location', type: 'array', items: { anyOf: [{ type: 'string' }, { type: 'integer' }] } },
      msg: { title: 'Message', type: 'string' },
      input: { title: 'Input' },
      ctx: { title: 'Context', type: 'object' },
    },
    required: ['type', 'loc', 'msg'],
  },
  ErrorDetail: {
    title: 'ErrorDetail',
    type: 'object',
    properties: { detail: { title: 'Detail', type: 'string' } },
    required: ['detail'],
  },
}

const errorContent = { 'application/json': { schema: { $ref: '#/components/schemas/ErrorDetail' } } }
const validationResponse = {
  description: 'Validation Error',
  content: { 'application/json': { schema: { $ref: '#/components/schemas/HTTPValidationError' } } },
}
