/**
 * Declares the errors of the server: a code with its status and text. Each family extends this table and writes errors
 * in its own shape. The server writes `{"status": text}`.
 */

import type { FastifyInstance, FastifyReply } from 'fastify'
import { refusalTexts } from '../../ingest/intake/refusal.ts'

export interface ErrorEntry {
  status: number
  /** The text is the same for every occurrence. */
  text: string
  retryAfterSeconds?: number
}

export type ErrorTable = Readonly<Record<string, ErrorEntry>>

export const serverErrors = {
  BAD_REQUEST: { status: 400, text: 'bad request' },
  JSON_INVALID: { status: 400, text: refusalTexts.JSON_INVALID },
  UNAUTHORIZED: { status: 401, text: refusalTexts.UNAUTHORIZED },
  NOT_FOUND: { status: 404, text: 'not found' },
  METHOD_NOT_ALLOWED: { status: 405, text: 'method not allowed' },
  TIMEOUT: { status: 408, text: 'timeout' },
  PAYLOAD_TOO_LARGE: { status: 413, text: 'payload too large' },
  URI_TOO_LONG: { status: 414, text: 'uri too long' },
  MEDIA_TYPE_UNSUPPORTED: { status: 415, text: 'unsupported media type' },
  HEADERS_TOO_LARGE: { status: 431, text: 'headers too large' },
  INTERNAL: { status: 500, text: 'internal error' },
  NOT_IMPLEMENTED: { status: 501, text: 'not implemented' },
  // The budget of answers sets Retry-After.
  SENDING_TOO_MUCH: { status: 503, text: 'too many large answers at once' },
} as const satisfies ErrorTable
export type ServerErrorCode = keyof typeof serverErrors

/** Several families share these errors, each with one code and one text in any shape. */
export const commonErrors = {
  BODY_BROKEN: { status: 400, text: 'broken body' },
  FORBIDDEN: { status: 403, text: refusalTexts.FORBIDDEN },
  DEVICE_UNKNOWN: { status: 404, text: refusalTexts.DEVICE_UNKNOWN },
  STATION_UNKNOWN: { status: 404, text: 'station unknown' },
  SN_TAKEN: { status: 409, text: 'sn taken' },
  REGISTRY_FULL: { status: 409, text: 'registry full' },
  TOO_MANY_ATTEMPTS: { status: 429, text: refusalTexts.TOO_MANY_ATTEMPTS, retryAfterSeconds: 5 },
  TOO_MANY_READINGS: { status: 429, text: refusalTexts.TOO_MANY_READINGS, retryAfterSeconds: 5 },
  STORAGE_FAILED: { status: 500, text: refusalTexts.STORAGE_FAILED },
  STORAGE_FULL: { status: 503, text: refusalTexts.STORAGE_FULL, retryAfterSeconds: 5 },
  DATABASE_AWAY: { status: 503, text: refusalTexts.DATABASE_AWAY, retryAfterSeconds: 5 },
  TIMED_OUT: { status: 503, text: 'database unavailable', retryAfterSeconds: 10 },
  OUTCOME_UNKNOWN: { status: 503, text: 'outcome unknown', retryAfterSeconds: 5 },
  QUEUE_FULL: { status: 503, text: 'too many queries at once', retryAfterSeconds: 2 },
  CLOSING: { status: 503, text: refusalTexts.CLOSING, retryAfterSeconds: 5 },
  HTTP_VERSION: { status: 505, text: 'HTTP/1.1 needed' },
} as const satisfies ErrorTable

const codesByStatus: Partial<Record<number, ServerErrorCode>> = {
  400: 'JSON_INVALID',
  404: 'NOT_FOUND',
  408: 'TIMEOUT',
  413: 'PAYLOAD_TOO_LARGE',
  414: 'URI_TOO_LONG',
  415: 'MEDIA_TYPE_UNSUPPORTED',
  503: 'SENDING_TOO_MUCH',
}

/** Maps errors of the framework, a parser or the send budget. An error without a status is a bug. */
export function errorCodeOf({ statusCode = 500 }: { statusCode?: number }): ServerErrorCode {
  return codesByStatus[statusCode] ?? (statusCode >= 500 ? 'INTERNAL' : 'BAD_REQUEST')
}

/** Part of the body may be unread after these, so the connection cannot be used again. */
export function leavesBodyUnread(code: ServerErrorCode): boolean {
  return code === 'TIMEOUT' || code === 'PAYLOAD_TOO_LARGE' || code === 'MEDIA_TYPE_UNSUPPORTED'
}

export function sendServerError(reply: FastifyReply, code: ServerErrorCode): FastifyReply {
  return setRefusal(reply, serverErrors[code]).send({ status: serverErrors[code].text })
}

declare module 'fastify' {
  interface FastifyInstance {
    /** Reason why reads find no database, if known. */
    databaseFault?: () => string | undefined
  }
}

/** Sets status and `Retry-After`. The family writes the rest. */
export function setRefusal(reply: FastifyReply, { status, retryAfterSeconds }: ErrorEntry): FastifyReply {
  return setRetryAfter(reply, retryAfterSeconds).code(status)
}

/** Keeps a present value, which is specific to this occurrence. */
export function setRetryAfter(reply: FastifyReply, seconds: number | undefined): FastifyReply {
  if (seconds !== undefined && !reply.hasHeader('retry-after')) reply.header('retry-after', String(seconds))
  return reply
}

/** Refuses every other method on `url` before its body is read. */
export function addMethodNotAllowed(app: FastifyInstance, url: string, allowed: readonly string[]): void {
  app.route({
    method: app.supportedMethods.filter(method => !allowed.includes(method)),
    url,
    onRequest: async (_request, reply) => refuseMethod(reply, allowed),
    handler: () => undefined,
  })
}

/** The body stays unread, so the connection cannot be used again. */
export function refuseMethod(reply: FastifyReply, allowed: readonly string[]): FastifyReply {
  reply.header('allow', allowed.join(', ')).header('connection', 'close')
  return sendServerError(reply, 'METHOD_NOT_ALLOWED')
}
