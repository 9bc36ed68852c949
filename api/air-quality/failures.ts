/** Sends errors of the framework, a parser or a part behind a route as errors of this API. */

import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import { isPassing } from '../../auth/passing-errors.ts'
import type { Log } from '../../store/log.ts'
import { OutcomeUnknown } from '../../store/postgres/postgres-errors.ts'
import { errorCodeOf, leavesBodyUnread, type ServerErrorCode } from '../http/errors.ts'
import { hasBody } from '../http/request-body.ts'
import type { Scope } from '../http/route-family.ts'
import { noteFailure } from './admission.ts'
import { type AirQualityErrorCode, airQualityErrors, sendError } from './errors.ts'

export function answerErrors(scope: Scope, log: Log): void {
  scope.setErrorHandler((error: FastifyError, request, reply) => sendFailure(request, reply, error, log))
  scope.setNotFoundHandler(({ raw }, reply) => {
    // The body stays unread, so the connection cannot be used again.
    if (hasBody(raw)) reply.header('connection', 'close')
    return sendError(reply, 'NOT_FOUND')
  })
}

function sendFailure(request: FastifyRequest, reply: FastifyReply, error: FastifyError, log: Log): FastifyReply {
  const code = codeOf(error)
  noteFailure(request, code)
  if (code === 'INTERNAL') log.error({ err: error }, 'air-quality API request failed')
  if (isUnread(error)) reply.header('connection', 'close')
  return sendError(reply, code)
}

function codeOf(error: FastifyError): AirQualityErrorCode {
  if (error instanceof OutcomeUnknown) return 'OUTCOME_UNKNOWN'
  return isPassing(error) ? 'DATABASE_AWAY' : ownCodeOf(errorCodeOf(error))
}

function isUnread(error: FastifyError): boolean {
  return !(error instanceof OutcomeUnknown) && !isPassing(error) && leavesBodyUnread(errorCodeOf(error))
}

function ownCodeOf(code: ServerErrorCode): AirQualityErrorCode {
  return code in airQualityErrors ? (code as AirQualityErrorCode) : 'BAD_REQUEST'
}
