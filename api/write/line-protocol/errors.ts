/**
 * The errors of the paths of InfluxDB, as its clients parse them: `{"error": text}` by version 1 of its API, `{"code",
 * "message"}` by version 2.
 */

import type { FastifyReply } from 'fastify'
import { z } from 'zod'
import { type ErrorEntry, type ErrorTable, serverErrors } from '../../http/errors.ts'

export type Version = 1 | 2

export const lineProtocolErrors = {
  ...serverErrors,
  INVALID: { status: 400, text: 'invalid request' },
  BODY_BROKEN: { status: 400, text: 'the body cannot be decompressed' },
  FORBIDDEN: { status: 403, text: 'the API key lacks the scope ingest' },
  BODY_TOO_LARGE: { status: 413, text: 'request entity too large: points batch is too large' },
  TOO_MANY_ATTEMPTS: { status: 429, text: 'too many failed attempts', retryAfterSeconds: 5 },
  TOO_MANY_POINTS: { status: 429, text: 'too many points', retryAfterSeconds: 5 },
  STORAGE_FAILED: { status: 500, text: 'storage failed; it is not known whether the points are stored' },
  TOO_MANY_BODIES: { status: 503, text: 'too many points at once', retryAfterSeconds: 2 },
  DATABASE_AWAY: { status: 503, text: 'the devices cannot be looked up at present', retryAfterSeconds: 5 },
  STORAGE_FULL: { status: 503, text: 'storage full', retryAfterSeconds: 5 },
  CLOSING: { status: 503, text: 'shutting down', retryAfterSeconds: 5 },
} as const satisfies ErrorTable
export type LineProtocolErrorCode = keyof typeof lineProtocolErrors

export const ErrorOfVersion = {
  1: z.object({ error: z.string() }).meta({ id: 'LineProtocolError1' }),
  2: z.object({ code: z.string(), message: z.string() }).meta({ id: 'LineProtocolError2' }),
}

/** What version 2 calls the statuses. */
const codes: Record<number, string> = {
  400: 'invalid',
  401: 'unauthorized',
  403: 'forbidden',
  404: 'not found',
  405: 'method not allowed',
  413: 'request too large',
  415: 'unsupported media type',
  429: 'too many requests',
  500: 'internal error',
  501: 'not implemented',
  503: 'unavailable',
}

/** Instead of the text of the code, `message` may say more. A `Retry-After` that is set stays. */
export function sendError(
  reply: FastifyReply,
  version: Version,
  code: LineProtocolErrorCode,
  message?: string,
): FastifyReply {
  const { status, text, retryAfterSeconds }: ErrorEntry = lineProtocolErrors[code]
  if (retryAfterSeconds !== undefined && !reply.hasHeader('retry-after'))
    reply.header('retry-after', String(retryAfterSeconds))
  if (status === 401) reply.header('www-authenticate', 'Basic realm="InfluxDB", charset="UTF-8"')
  const told = message ?? text
  reply.code(status).header('x-influxdb-error', headerText(told))
  return reply.send(version === 1 ? { error: told } : { code: codes[status] ?? 'invalid', message: told })
}

const headerCharactersMax = 200

/** A header holds printable ASCII; the whole text is in the body. */
function headerText(text: string): string {
  return text.replace(/[^ -~]/g, '?').slice(0, headerCharactersMax)
}
