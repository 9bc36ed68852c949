/** Sends a resource with its ETag, according to the client's conditions (RFC 9110, 13). */

import { hash } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { isKnownTo, matchesStrongly } from '../http/send-body.ts'
import { sendError } from './errors.ts'

/** For GET and HEAD. */
export function sendResource(request: FastifyRequest, reply: FastifyReply, value: object): FastifyReply {
  return sendJsonBytes(request, reply, Buffer.from(JSON.stringify(value)))
}

/** Sends JSON that is encoded already. */
export function sendJsonBytes(request: FastifyRequest, reply: FastifyReply, body: Buffer): FastifyReply {
  const etag = `"${hash('sha256', body, 'base64url')}"`
  const { 'if-match': expected } = request.headers
  if (expected !== undefined && !matchesStrongly(etag, expected)) return sendError(reply, 'ETAG_DIFFERENT')
  reply.header('etag', etag).header('cache-control', 'private, no-cache')
  if (isKnownTo(request, etag)) return reply.code(304).send()
  return reply.header('content-type', 'application/json').send(body)
}
