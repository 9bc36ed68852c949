/** Sends an answer as JSON or as a page. */

import type { FastifyReply } from 'fastify'
import { type Answer, indented } from './answer.ts'
import { type ContentFileErrorCode, errorAnswer } from './errors.ts'

export function sendError(reply: FastifyReply, code: ContentFileErrorCode): FastifyReply {
  return sendJson(reply, errorAnswer(code), 0)
}

/** A buffer, because the framework adds a charset to a text. */
export function sendJson(reply: FastifyReply, answer: Answer, indent: number): FastifyReply {
  const json = indent === 0 ? answer.json : Buffer.from(indented(answer, indent))
  return reply.code(answer.status).header('content-type', 'application/json').send(json)
}

export function sendHtml(reply: FastifyReply, text: string): FastifyReply {
  return reply.header('content-type', 'text/html; charset=utf-8').send(Buffer.from(text))
}
