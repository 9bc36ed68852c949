/** Sends errors of the framework, a parser or a part behind a route as problem documents. */

import type { FastifyError, FastifyReply } from 'fastify'
import { ChangeInDoubt, LeaseExpired } from '../../auth/record-cache.ts'
import { TooBusy } from '../../auth/too-busy.ts'
import type { Log } from '../../store/log.ts'
import { isConflict, isUnavailable, OutcomeUnknown } from '../../store/postgres/postgres-errors.ts'
import { errorCodeOf, leavesBodyUnread, type ServerErrorCode, setRetryAfter } from '../http/errors.ts'
import type { Scope } from '../http/route-family.ts'
import { sendProblem } from './problem.ts'

const details: Partial<Record<ServerErrorCode, string>> = {
  JSON_INVALID: 'the body is not JSON in UTF-8',
  TIMEOUT: 'the body did not arrive in time',
  MEDIA_TYPE_UNSUPPORTED: 'send application/json in UTF-8, not compressed',
}

class Unsettled extends Error {}

/** A read is refused rather than answered with outdated data. */
export function requireSettled(isSettled: boolean): void {
  if (!isSettled) throw new Unsettled()
}

export function answerErrors(scope: Scope, log: Log): void {
  scope.setNotFoundHandler((_request, reply) => sendProblem(reply, 'NOT_FOUND'))
  scope.setErrorHandler((error: FastifyError, _request, reply) => sendFailure(reply, error, log))
}

export function sendFailure(reply: FastifyReply, error: unknown, log: Log): FastifyReply {
  if (error instanceof OutcomeUnknown) return sendUnknownOutcome(reply)
  if (error instanceof LeaseExpired) return sendProblem(reply, 'DATABASE_AWAY', { detail: error.message })
  if (error instanceof Unsettled) {
    const detail = 'PostgreSQL does not answer; the outcome of the last change is not known yet'
    return sendProblem(reply, 'DATABASE_AWAY', { detail })
  }
  if (error instanceof ChangeInDoubt) {
    return sendProblem(reply, 'DATABASE_AWAY', { detail: 'the outcome of the last change is not known yet' })
  }
  if (error instanceof TooBusy) return sendProblem(setRetryAfter(reply, error.retryAfterSeconds), 'TOO_BUSY')
  if (isConflict(error)) return sendProblem(reply, 'DATABASE_AWAY', { detail: 'the same data are being changed' })
  if (isUnavailable(error)) return sendProblem(reply, 'DATABASE_AWAY', { detail: 'PostgreSQL does not answer' })
  const code = errorCodeOf(error as FastifyError)
  if (code === 'INTERNAL') log.error({ err: error }, 'admin API request failed')
  if (leavesBodyUnread(code)) reply.header('connection', 'close')
  return sendProblem(reply, code, { detail: details[code] })
}

/** PostgreSQL has not confirmed the change. */
export function sendUnknownOutcome(reply: FastifyReply): FastifyReply {
  const detail = 'PostgreSQL did not confirm the change, which may have been made or not: look before you try again'
  return sendProblem(reply, 'OUTCOME_UNKNOWN', { detail })
}
