/** What this family says when it cannot do what it is asked: `{"detail": text}`. */

import type { FastifyReply } from 'fastify'
import type { AccountErrorCode } from '../../../auth/outcome.ts'

interface Entry {
  status: number
  detail: string
}

export const errors = {
  BODY_UNREADABLE: { status: 400, detail: 'There was an error parsing the body' },
  PASSWORD_WRONG: { status: 400, detail: 'Current password is wrong' },
  TOKEN_INVALID: { status: 400, detail: 'Invalid or expired token' },
  ORIGIN_UNKNOWN: { status: 400, detail: 'Disallowed CORS origin' },
  UNAUTHENTICATED: { status: 401, detail: 'Not authenticated' },
  TENANT_TOKEN_INVALID: { status: 401, detail: 'Invalid or expired tenant token' },
  CREDENTIALS_WRONG: { status: 401, detail: 'Invalid email or password' },
  ACCOUNT_INACTIVE: { status: 403, detail: 'Account is inactive' },
  CROSS_SITE: { status: 403, detail: 'Cross-site request refused' },
  EMAIL_UNVERIFIED: { status: 403, detail: 'Keys that send readings need a verified email address' },
  FORBIDDEN: { status: 403, detail: 'Not enough permissions' },
  GRANT_FOREIGN: { status: 403, detail: 'Device request belongs to another session' },
  PROVIDER_UNKNOWN: { status: 403, detail: 'Provider is not allowed' },
  REGISTRATION_CLOSED: { status: 403, detail: 'registration is closed' },
  REGISTRATION_INVITED: { status: 403, detail: 'registration by invitation only' },
  SCOPE_NOT_ALLOWED: { status: 403, detail: 'Scope is beyond the role of the user' },
  TENANT_INACTIVE: { status: 403, detail: 'Tenant is disabled' },
  SESSION_TOO_OLD: { status: 403, detail: 'Please sign in again' },
  ACCOUNT_UNKNOWN: { status: 404, detail: 'User not found' },
  KEY_UNKNOWN: { status: 404, detail: 'API key not found' },
  GRANT_UNKNOWN: { status: 404, detail: 'Device request not found' },
  TENANT_UNKNOWN: { status: 404, detail: 'Tenant not found' },
  NOT_FOUND: { status: 404, detail: 'Not Found' },
  METHOD_NOT_ALLOWED: { status: 405, detail: 'Method Not Allowed' },
  TIMEOUT: { status: 408, detail: 'Request Timeout' },
  EMAIL_TAKEN: { status: 409, detail: 'Email already registered' },
  GRANT_DECIDED: { status: 409, detail: 'Device request is approved or denied already' },
  IDENTITY_NOT_LINKED: { status: 409, detail: 'Email belongs to an account that is not linked' },
  LAST_ADMINISTRATOR: { status: 409, detail: 'The last active administrator cannot be deleted' },
  OPERATOR_STAYS: { status: 409, detail: 'The account of the operator cannot be deleted' },
  TOO_MANY_KEYS: { status: 409, detail: 'Too many API keys' },
  TOKEN_REPLAYED: { status: 409, detail: 'Token was exchanged before' },
  GRANT_EXPIRED: { status: 410, detail: 'Device request has expired' },
  PAYLOAD_TOO_LARGE: { status: 413, detail: 'Request Entity Too Large' },
  URI_TOO_LONG: { status: 414, detail: 'URI Too Long' },
  CODING_UNSUPPORTED: { status: 415, detail: 'Unsupported Media Type' },
  TOO_MANY_REQUESTS: { status: 429, detail: 'Too many requests' },
  INTERNAL: { status: 500, detail: 'Internal Server Error' },
  DRIVE_NOT_CONFIGURED: { status: 503, detail: 'The drive is not configured: DRIVE_CLIENT_ID is not set' },
  UNAVAILABLE: { status: 503, detail: 'Service Unavailable' },
} as const satisfies Record<AccountErrorCode, Entry> & Record<string, Entry>
export type ErrorCode = keyof typeof errors

export function sendError(reply: FastifyReply, code: ErrorCode, retryAfterSeconds?: number): FastifyReply {
  const { status, detail } = errors[code]
  if (status === 401) reply.header('www-authenticate', 'Bearer')
  if (retryAfterSeconds !== undefined) reply.header('retry-after', String(retryAfterSeconds))
  return reply.code(status).send({ detail })
}
