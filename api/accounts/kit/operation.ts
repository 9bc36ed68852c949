/** Declares operations of the account API and publishes them in the contract. */

import { z } from 'zod'
import type { Client } from '../../../auth/accounts/account-parts.ts'
import { type Permission, type Principal, policy } from '../../../auth/policy.ts'
import type { ErrorEntry } from '../../http/errors.ts'
import type { Operation } from '../../http/operation.ts'
import { type ErrorCode, errors } from './errors.ts'
import type { Aliases } from './validation.ts'

/** Prefix of all paths of this family. */
export const accountsPrefix = '/v1/auth'

export interface AccountOperation<Body = unknown, Path = unknown, Query = unknown>
  extends Operation<ErrorCode, Path, Query, Body> {
  /** Without a permission, everybody is served, with any credential. */
  permission?: Permission
  aliases?: Aliases
  /** The result is JSON of the operation's schema, 204, a redirect (302) or a page for a browser. */
  handle(asked: OperationInput<Body, Path, Query>): Promise<Answer>
}

export interface OperationInput<Body = unknown, Path = unknown, Query = unknown> {
  body: Body
  path: Path
  query: Query
  /** Undefined for an operation that serves everybody. */
  principal: Principal | undefined
  client: Client
  /** Finds the principal for operations that do not require one. */
  identify(): Promise<Principal | undefined>
  /** Undefined if the cookie is missing or is sent twice. */
  cookie(name: string): string | undefined
  /** True if a page of another site sent the request. */
  isCrossSite: boolean
}

export type Answer =
  | { ok: true; value?: unknown; cookies?: readonly string[] }
  | { ok: true; location: string; cookies?: readonly string[] }
  | { ok: true; page: Page; cookies?: readonly string[] }
  | { ok: false; code: ErrorCode; retryAfterSeconds?: number }
  | { ok: false; code: 'FIELD_MISSING'; field: string }

/** A page for a browser. It may also report an error. */
export interface Page {
  status: 200 | 400
  html: string
  /** Sent in addition to the common headers. */
  headers: Record<string, string>
}

/** Keeps the types of one operation together. The code that runs operations does not know them. */
export function operation<Body = undefined, Path = undefined, Query = undefined>(
  declared: AccountOperation<Body, Path, Query>,
): AccountOperation {
  const { permission, credentials = [], body, parameters, others } = declared
  const isChecked = body !== undefined || parameters !== undefined
  return {
    ...declared,
    name: functionName(accountsPrefix, declared as Operation),
    credentials: permission === undefined ? credentials : credentialsOf(permission),
    others: isChecked ? { ...others, 422: validationErrors } : { ...others },
  } as AccountOperation
}

/** FastAPI builds it from the function, the path with underscores and the method. */
function functionName(prefix: string, { name, path, method }: Operation): string {
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

function credentialsOf(permission: Permission): string[] {
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

const validationErrors = { description: 'Validation Error', json: HTTPValidationError }
