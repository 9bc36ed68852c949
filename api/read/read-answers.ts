/** Answers a read of the logger API with a body or a refusal. */

import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Answer } from '../../query/cache/body.ts'
import type { Query } from '../../query/query.ts'
import { sendBody } from '../http/send-body.ts'
import { type LoggerErrorCode, sendError } from '../http/status-operations.ts'

export type Sent = FastifyReply | Promise<FastifyReply>

export function sendAnswer(
  request: FastifyRequest,
  reply: FastifyReply,
  answer: Answer | Promise<Answer>,
  coded: Query['coded'],
  tooLarge: LoggerErrorCode = 'TOO_LARGE',
): Sent {
  // A body from memory is sent within this turn: a resolved promise would cost more than the rest.
  if (answer instanceof Promise) return answer.then(made => sendAnswer(request, reply, made, coded, tooLarge))
  if (answer.ok) return sendBody(request, reply, answer.body, answer.maxAgeSeconds, coded)
  return refuse(reply, answer.code === 'TOO_LARGE' ? tooLarge : answer.code)
}

/** `text` is the error of a parameter. */
export function refuse(reply: FastifyReply, code: LoggerErrorCode, text?: string): FastifyReply {
  reply.header('cache-control', 'no-store').header('vary', 'accept-encoding')
  const detail = code === 'DATABASE_AWAY' ? reply.server.databaseFault?.() : undefined
  return sendError(reply, code, {
    ...(text === undefined ? {} : { status: text }),
    ...(detail === undefined ? {} : { detail }),
  })
}
