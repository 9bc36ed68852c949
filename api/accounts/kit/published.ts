/** Publishes the parts that all operations of this family have in common: names, credentials, refusals and errors. */

import { z } from 'zod'
import { type Permission, type Principal, policy } from '../../../auth/policy.ts'
import type { ErrorEntry } from '../../http/errors.ts'
import type { Operation } from '../../http/operation.ts'
import { type ErrorCode, errors } from './errors.ts'

/** FastAPI builds it from the function, the path with underscores and the method. */
export function functionName(prefix: string, { name, path, method }: Operation): string {
  const published = `${prefix}${path.replaceAll(/:(\w+)/g, '{$1}')}`
  return `${name}${published.replaceAll(/\W/g, '_')}_${method.toLowerCase()}`
}

const securityNames: Record<Principal['kind'], string> = {
  session: 'session',
  bearer: 'bearer',
  key: 'apiKey',
  service: 'serviceSecret',
  // No published operation has this permission.
  'admin-token': 'adminToken',
  'view-link': 'viewLink',
}

export function credentialsOf(permission: Permission): string[] {
  const rules = Object.entries(policy[permission]) as [Principal['kind'], string][]
  return rules.filter(([, rule]) => rule === 'yes' || rule === 'own').map(([kind]) => securityNames[kind])
}

export const securitySchemes = {
  session: { type: 'apiKey', in: 'cookie', name: 'authjs.session-token' },
  bearer: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' },
  apiKey: { type: 'apiKey', in: 'header', name: 'X-API-Key' },
  viewLink: { type: 'http', scheme: 'bearer', description: 'The token of a link to a view' },
  serviceSecret: { type: 'apiKey', in: 'header', name: 'X-Service-Secret' },
}

/** Operations with a body return these. */
const ofBodies: readonly ErrorCode[] = ['BODY_UNREADABLE', 'TIMEOUT', 'PAYLOAD_TOO_LARGE', 'CODING_UNSUPPORTED']
/** A path that cannot be decoded or is too long gets these. */
const ofPaths: readonly ErrorCode[] = ['NOT_FOUND', 'URI_TOO_LONG']

export function refusalsOf({ body, parameters, refusals = [] }: Operation<ErrorCode>): ErrorEntry[] {
  const codes: ErrorCode[] = [
    ...(body === undefined ? [] : ofBodies),
    ...refusals,
    ...(parameters?.path === undefined ? [] : ofPaths),
    'INTERNAL',
  ]
  return codes.map(code => errors[code])
}

/** As in FastAPI, the schema allows other members. */
function errorOf<Shape extends z.ZodRawShape>(id: string, shape: Shape) {
  return z.object(shape).meta({ id, title: id, additionalProperties: undefined })
}

export const ErrorDetail = errorOf('ErrorDetail', { detail: z.string().meta({ title: 'Detail' }) })

const whole = z.int().meta({ minimum: undefined, maximum: undefined, format: null })
const ValidationError = errorOf('ValidationError', {
  type: z.string().meta({ title: 'Error Type' }),
  loc: z.array(z.union([z.string(), whole])).meta({ title: 'Location' }),
  msg: z.string().meta({ title: 'Message' }),
  input: z.unknown().optional().meta({ title: 'Input' }),
  ctx: z.unknown().optional().meta({ title: 'Context', type: 'object' }),
})
const HTTPValidationError = errorOf('HTTPValidationError', {
  detail: z.array(ValidationError).optional().meta({ title: 'Detail' }),
})

export const validationErrors = { description: 'Validation Error', json: HTTPValidationError }
