/** What the framework, a parser or a part behind a route has thrown, as an error of this API. */

import type { FastifyError, FastifyReply } from 'fastify'
import { isPassing } from '../../auth/passing-errors.ts'
import type { Log } from '../../store/log.ts'
import { OutcomeUnknown } from '../../store/postgres/postgres-errors.ts'
import { hasBody } from '../http/body-deadlines.ts'
import { errorCodeOf, leavesBodyUnread, type ServerErrorCode } from '../http/errors.ts'
import type { Scope } from '../http/scope.ts'
import { type AirQualityErrorCode, airQualityErrors, sendError } from './errors.ts'

export function answerErrors(scope: Scope, log: Log): void {
  scope.setErrorHandler((error: FastifyError, _request, reply) => sendFailure(reply, error, log))
  scope.setNotFoundHandler(({ raw }, reply) => {
    // The body stays unread, so the connection cannot be used again.
    if (hasBody(raw)) reply.header('connection', 'close')
    return sendError(reply, 'NOT_FOUND')
  })
}

function sendFailure(reply: FastifyReply, error: FastifyError, log: Log): FastifyReply {
  if (error instanceof OutcomeUnknown) return sendError(reply, 'OUTCOME_UNKNOWN')
  if (isPassing(error)) return sendError(reply, 'DATABASE_AWAY')
  const code = errorCodeOf(error)
  if (code === 'INTERNAL') log.error({ err: error }, 'air-quality API request failed')
  if (leavesBodyUnread(code)) reply.header('connection', 'close')
  return sendError(reply, ownCodeOf(code))
}

function ownCodeOf(code: ServerErrorCode): AirQualityErrorCode {
  return code in airQualityErrors ? (code as AirQualityErrorCode) : 'BAD_REQUEST'
}
