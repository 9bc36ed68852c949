/** Errors of the account API: the table of codes, and failures of parts behind a route. */

import type { FastifyError, FastifyReply } from 'fastify'
import type { AccountErrorCode } from '../../../auth/outcome.ts'
import { ChangeInDoubt } from '../../../auth/record-cache.ts'
import { TooBusy } from '../../../auth/too-busy.ts'
import { isUnavailable } from '../../../store/postgres/postgres-errors.ts'
import { commonErrors, type ErrorEntry, type ErrorTable, setRefusal, setRetryAfter } from '../../http/errors.ts'

export const errors = {
  BODY_UNREADABLE: { status: 400, text: 'There was an error parsing the body' },
  PASSWORD_WRONG: { status: 400, text: 'Current password is wrong' },
  TOKEN_INVALID: { status: 400, text: 'Invalid or expired token' },
  ORIGIN_UNKNOWN: { status: 400, text: 'Disallowed CORS origin' },
  UNAUTHENTICATED: { status: 401, text: 'Not authenticated' },
  TENANT_TOKEN_INVALID: { status: 401, text: 'Invalid or expired tenant token' },
  CREDENTIALS_WRONG: { status: 401, text: 'Invalid email or password' },
  ACCOUNT_INACTIVE: { status: 403, text: 'Account is inactive' },
  CROSS_SITE: { status: 403, text: 'Cross-site request refused' },
  EMAIL_UNVERIFIED: { status: 403, text: 'Keys that send readings need a verified email address' },
  FORBIDDEN: commonErrors.FORBIDDEN,
  GRANT_FOREIGN: { status: 403, text: 'Device request belongs to another session' },
  PROVIDER_UNKNOWN: { status: 403, text: 'Provider is not allowed' },
  REGISTRATION_CLOSED: { status: 403, text: 'registration is closed' },
  REGISTRATION_INVITED: { status: 403, text: 'registration by invitation only' },
  SCOPE_NOT_ALLOWED: { status: 403, text: 'Scope is beyond the role of the user' },
  TAGS_NOT_ALLOWED: { status: 403, text: 'A key with tags may only read and send readings' },
  TENANT_INACTIVE: { status: 403, text: 'Tenant is disabled' },
  SESSION_TOO_OLD: { status: 403, text: 'Please sign in again' },
  ACCOUNT_UNKNOWN: { status: 404, text: 'User not found' },
  KEY_UNKNOWN: { status: 404, text: 'API key not found' },
  GRANT_UNKNOWN: { status: 404, text: 'Device request not found' },
  TENANT_UNKNOWN: { status: 404, text: 'Tenant not found' },
  LINK_UNKNOWN: { status: 404, text: 'Link not found' },
  VIEW_UNKNOWN: { status: 404, text: 'View not found' },
  NOT_FOUND: { status: 404, text: 'Not Found' },
  METHOD_NOT_ALLOWED: { status: 405, text: 'Method Not Allowed' },
  TIMEOUT: { status: 408, text: 'Request Timeout' },
  EMAIL_TAKEN: { status: 409, text: 'Email already registered' },
  GRANT_DECIDED: { status: 409, text: 'Device request is approved or denied already' },
  IDENTITY_NOT_LINKED: { status: 409, text: 'Email belongs to an account that is not linked' },
  LAST_ADMINISTRATOR: { status: 409, text: 'The last active administrator cannot be deleted' },
  OPERATOR_STAYS: { status: 409, text: 'The account of the operator cannot be deleted' },
  TOO_MANY_KEYS: { status: 409, text: 'Too many API keys' },
  TOO_MANY_LINKS: { status: 409, text: 'Too many links' },
  VIEW_NOT_SHAREABLE: {
    status: 409,
    text: 'A link shows the fleet, a device or a comparison, with devices that its owner may read',
  },
  TOO_MANY_VIEWS: { status: 409, text: 'Too many views' },
  TOKEN_REPLAYED: { status: 409, text: 'Token was exchanged before' },
  VIEW_NAME_TAKEN: { status: 409, text: 'There is a view of this name' },
  GRANT_EXPIRED: { status: 410, text: 'Device request has expired' },
  PAYLOAD_TOO_LARGE: { status: 413, text: 'Request Entity Too Large' },
  URI_TOO_LONG: { status: 414, text: 'URI Too Long' },
  CODING_UNSUPPORTED: { status: 415, text: 'Unsupported Media Type' },
  TOO_MANY_REQUESTS: { status: 429, text: 'Too many requests' },
  INTERNAL: { status: 500, text: 'Internal Server Error' },
  DRIVE_NOT_CONFIGURED: { status: 503, text: 'The drive is not configured: DRIVE_CLIENT_ID is not set' },
  UNAVAILABLE: { status: 503, text: 'Service Unavailable', retryAfterSeconds: 5 },
} as const satisfies Record<AccountErrorCode, ErrorEntry> & ErrorTable
export type ErrorCode = keyof typeof errors

export function sendError(reply: FastifyReply, code: ErrorCode, retryAfterSeconds?: number): FastifyReply {
  const { status, text: detail } = errors[code]
  if (status === 401) reply.header('www-authenticate', 'Bearer')
  return setRefusal(setRetryAfter(reply, retryAfterSeconds), errors[code]).send({ detail })
}

interface Failure {
  code: ErrorCode
  retryAfterSeconds?: number
  /** True if part of the body may be unread. */
  isUnread: boolean
}

const codes: Record<number, ErrorCode> = { 408: 'TIMEOUT', 413: 'PAYLOAD_TOO_LARGE', 415: 'CODING_UNSUPPORTED' }

/** `INTERNAL` is a bug of the service. */
export function failureOf(error: FastifyError): Failure {
  if (error instanceof TooBusy) {
    return { code: 'UNAVAILABLE', retryAfterSeconds: error.retryAfterSeconds, isUnread: false }
  }
  if (error instanceof ChangeInDoubt || isUnavailable(error) || error.statusCode === 503) {
    return { code: 'UNAVAILABLE', isUnread: false }
  }
  const { statusCode = 500 } = error
  const code = codes[statusCode] ?? (statusCode >= 500 ? 'INTERNAL' : 'BODY_UNREADABLE')
  return { code, isUnread: statusCode !== 500 }
}
