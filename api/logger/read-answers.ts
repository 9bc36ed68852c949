/** How a read of the logger API is answered: by a body, or by a refusal in the logger's own shape. */

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Answer, AnswerCode } from '../../query/cache/body.ts'
import type { Query } from '../../query/query.ts'
import { answerPreflight } from '../http/any-origin.ts'
import { refuseOtherMethods } from '../http/other-methods.ts'
import { argumentsMax, hasTooManyArguments } from '../http/query-limits.ts'
import { sendBody } from '../http/send-body.ts'

export interface Refusal {
  readonly code: number
  readonly status: string
  readonly retryAfterSeconds?: number
}

export type Sent = FastifyReply | Promise<FastifyReply>

/** A handler asks for the parameters and the query string that its path has. */
export type ReadHandler = (request: never, reply: FastifyReply) => Sent

export const refusalOf = {
  DATE_INVALID: { code: 400, status: 'date must be a day of the calendar, as 2026-01-31' },
  TOO_LARGE: { code: 413, status: 'too many readings for one answer' },
  DATABASE_AWAY: { code: 503, status: 'database unavailable', retryAfterSeconds: 5 },
  TIMED_OUT: { code: 503, status: 'database unavailable', retryAfterSeconds: 10 },
  QUEUE_FULL: { code: 503, status: 'too many questions at once', retryAfterSeconds: 2 },
  CLOSING: { code: 503, status: 'shutting down', retryAfterSeconds: 5 },
  CANCELLED: { code: 503, status: 'cancelled', retryAfterSeconds: 1 },
} satisfies Record<AnswerCode, Refusal>

/** An unknown path is `not found`. */
export const unknown: Refusal = { code: 404, status: 'device unknown' }

export function invalid(status: string): Refusal {
  return { code: 400, status }
}

/** With and without a slash at its end, as the server has it for every path. */
export function addRead(app: FastifyInstance, url: string, handler: ReadHandler): void {
  app.route({
    method: 'GET',
    url,
    onRequest: boundArguments,
    handler: handler as (request: FastifyRequest, reply: FastifyReply) => Sent,
  })
  answerPreflight(app, url)
  refuseOtherMethods(app, url, ['GET', 'HEAD', 'OPTIONS'])
}

function boundArguments({ originalUrl }: FastifyRequest, reply: FastifyReply, done: () => void): void {
  if (hasTooManyArguments(originalUrl)) refuse(reply, invalid(`at most ${argumentsMax} parameters`))
  else done()
}

export function give(
  request: FastifyRequest,
  reply: FastifyReply,
  answer: Answer | Promise<Answer>,
  coded: Query['coded'],
  tooLarge: Refusal = refusalOf.TOO_LARGE,
): Sent {
  // A body from memory goes out within this turn: a promise kept would cost more than all the rest.
  if (answer instanceof Promise) return answer.then(given => give(request, reply, given, coded, tooLarge))
  if (answer.ok) return sendBody(request, reply, answer.body, answer.maxAgeSeconds, coded)
  return refuse(reply, answer.code === 'TOO_LARGE' ? tooLarge : refusalOf[answer.code])
}

export function refuse(reply: FastifyReply, { code, status, retryAfterSeconds }: Refusal): FastifyReply {
  if (retryAfterSeconds !== undefined) reply.header('retry-after', String(retryAfterSeconds))
  return reply.code(code).header('cache-control', 'no-store').header('vary', 'accept-encoding').send({ status })
}

/** Aborts when the client has left; after the answer was sent nobody listens any more. */
export function leavingOf(reply: FastifyReply): AbortSignal {
  const leaving = new AbortController()
  reply.raw.once('close', () => leaving.abort())
  return leaving.signal
}
