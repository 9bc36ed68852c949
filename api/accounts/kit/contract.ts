/** The account service's part of the contract, made of the operations and their schemas. */

import { type Principal, policy } from '../../../auth/policy.ts'
import { type Components, createComponents } from '../../docs/components.ts'
import {
  type Content,
  type Contract,
  type Json,
  type PublishedOperation,
  refusalResponses,
  type Tag,
} from '../../docs/contract.ts'
import { type ErrorCode, errors } from './errors.ts'
import type { Operation, Success } from './operation.ts'

export interface PublishedOperations {
  prefix: string
  tag: Tag
  operations: readonly Operation[]
}

export function accountsContract(published: readonly PublishedOperations[]): Contract {
  const components = createComponents()
  const paths: Contract['paths'] = {}
  for (const { prefix, tag, operations } of published) {
    for (const operation of operations) {
      const path = `${prefix}${operation.url.replaceAll(/:(\w+)/g, '{$1}')}`
      paths[path] = { ...paths[path], [operation.method.toLowerCase()]: publish(operation, path, tag.name, components) }
    }
  }
  return {
    tags: published.map(({ tag }) => tag),
    paths,
    schemas: { ...errorSchemas, ...components.schemas },
    securitySchemes,
  }
}

function publish(operation: Operation, path: string, tag: string, components: Components): PublishedOperation {
  const { body, permission, summary, success } = operation
  const parameters = [
    ...components.parameters(operation.path, 'path'),
    ...components.parameters(operation.query, 'query'),
  ]
  const content = contentOf(success, components)
  return {
    tags: [tag],
    summary,
    operationId: operationId(operation, path),
    security: permission === undefined ? [] : securityOf(permission),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(body === undefined
      ? {}
      : {
          requestBody: {
            required: true,
            content: { 'application/json': { schema: components.reference(body, 'input') } },
          },
        }),
    responses: {
      [success.status]: { description: success.description, ...(content === undefined ? {} : { content }) },
      ...('isPage' in success ? { 400: { description: 'A page that says why not', content: page } } : {}),
      ...refusalsOf([
        ...(body === undefined ? [] : ofBodies),
        ...operation.refusals,
        ...ofPaths(operation),
        'INTERNAL',
      ]),
      ...(body === undefined && parameters.length === 0 ? {} : { 422: validationResponse }),
    },
  }
}

const page: Content = { 'text/html': { schema: { type: 'string' } } }

function contentOf(success: Success, components: Components): Content | undefined {
  if ('isPage' in success) return page
  return success.schema && { 'application/json': { schema: components.reference(success.schema, 'output') } }
}

/** Of every operation that has a body. */
const ofBodies: readonly ErrorCode[] = ['BODY_UNREADABLE', 'TIMEOUT', 'PAYLOAD_TOO_LARGE', 'CODING_UNSUPPORTED']

/** Of a path that cannot be decoded, or is too long. */
function ofPaths({ path }: Operation): readonly ErrorCode[] {
  return path === undefined ? [] : ['NOT_FOUND', 'URI_TOO_LONG']
}

/** As FastAPI makes it: the function, the path with underscores, the method. */
function operationId({ name, method }: Operation, path: string): string {
  return `${name}${path.replaceAll(/\W/g, '_')}_${method.toLowerCase()}`
}

function refusalsOf(codes: readonly ErrorCode[]): PublishedOperation['responses'] {
  const refusals = codes.map(code => ({ status: errors[code].status, text: errors[code].detail }))
  return refusalResponses(refusals, errorContent)
}

const securityNames: Record<Principal['kind'], string> = {
  session: 'session',
  bearer: 'bearer',
  key: 'apiKey',
  service: 'serviceSecret',
  // Of no published operation.
  'admin-token': 'adminToken',
}

function securityOf(permission: keyof typeof policy): Record<string, string[]>[] {
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
