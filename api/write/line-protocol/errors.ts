/** Declares InfluxDB errors: `{"error": text}` for version 1, `{"code", "message"}` for version 2. */

import type { FastifyReply } from 'fastify'
import { z } from 'zod'
import { commonErrors, type ErrorTable, serverErrors, setRefusal } from '../../http/errors.ts'

export type Version = 1 | 2

export const lineProtocolErrors = {
  ...serverErrors,
  INVALID: { status: 400, text: 'invalid request' },
  BODY_BROKEN: commonErrors.BODY_BROKEN,
  FORBIDDEN: commonErrors.FORBIDDEN,
  BODY_TOO_LARGE: { status: 413, text: 'request entity too large: points batch is too large' },
  TOO_MANY_ATTEMPTS: commonErrors.TOO_MANY_ATTEMPTS,
  TOO_MANY_READINGS: commonErrors.TOO_MANY_READINGS,
  STORAGE_FAILED: commonErrors.STORAGE_FAILED,
  TOO_MANY_BODIES: { status: 503, text: 'too many points at once', retryAfterSeconds: 2 },
  DATABASE_AWAY: commonErrors.DATABASE_AWAY,
  STORAGE_FULL: commonErrors.STORAGE_FULL,
  CLOSING: commonErrors.CLOSING,
} as const satisfies ErrorTable
export type LineProtocolErrorCode = keyof typeof lineProtocolErrors

/** Writes an error in the form of a protocol. `message` replaces the text of the code. */
export type SendError = (reply: FastifyReply, code: LineProtocolErrorCode, message?: string) => FastifyReply

export const ErrorOfVersion = {
  1: z.object({ error: z.string() }).meta({ id: 'LineProtocolError1' }),
  2: z.object({ code: z.string(), message: z.string() }).meta({ id: 'LineProtocolError2' }),
}

/** Adds details to the text of a code. */
const details: Partial<Record<LineProtocolErrorCode, string>> = {
  BODY_BROKEN: 'it cannot be decompressed',
  FORBIDDEN: 'the API key lacks the scope ingest',
}

export function textOf(code: LineProtocolErrorCode): string {
  const { text } = lineProtocolErrors[code]
  const detail = details[code]
  return detail === undefined ? text : `${text}: ${detail}`
}

/** Names of statuses in version 2. */
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

/** `message` replaces the text of the code. */
export function sendError(
  reply: FastifyReply,
  version: Version,
  code: LineProtocolErrorCode,
  message?: string,
): FastifyReply {
  const { status } = lineProtocolErrors[code]
  if (status === 401) reply.header('www-authenticate', 'Basic realm="InfluxDB", charset="UTF-8"')
  const text = message ?? textOf(code)
  setRefusal(reply, lineProtocolErrors[code]).header('x-influxdb-error', headerText(text))
  return reply.send(version === 1 ? { error: text } : { code: codes[status] ?? 'invalid', message: text })
}

export function errorsOf(version: Version): SendError {
  return (reply, code, message) => sendError(reply, version, code, message)
}

const headerCharactersMax = 200

/** A header holds printable ASCII. The whole text is in the body. */
function headerText(text: string): string {
  return text.replace(/[^ -~]/g, '?').slice(0, headerCharactersMax)
}
