/** Maps an error of an accepted request to a response. */

import type { FastifyError } from 'fastify'
import { ChangeInDoubt } from '../../../auth/record-cache.ts'
import { TooBusy } from '../../../auth/too-busy.ts'
import { isUnavailable } from '../../../store/postgres/postgres-errors.ts'
import type { ErrorCode } from './errors.ts'

export interface Failure {
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
