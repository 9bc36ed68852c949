/** The errors of the logger API, written as `{"status": text}`: a client may always test `status == "success"`. */

import type { FastifyReply } from 'fastify'
import { z } from 'zod'
import { devicesMax } from './devices-parameter.ts'
import { type ErrorEntry, type ErrorTable, serverErrors } from './errors.ts'
import { argumentsMax } from './query-limits.ts'

const tooLarge = 'too many readings for one answer'

export const loggerErrors = {
  ...serverErrors,
  // PUT /api/log
  PAYLOAD_INVALID: { status: 400, text: 'invalid payload' },
  KEY_INVALID: { status: 400, text: 'invalid idempotency key' },
  DEVICE_MISMATCH: { status: 403, text: 'device mismatch' },
  LOGGING_DISABLED: { status: 403, text: 'logging disabled' },
  TOO_MANY_OF_OWNER: { status: 403, text: 'too many devices of the owner' },
  KEY_REUSED: { status: 422, text: 'idempotency key belongs to another request' },
  TOO_MANY_ATTEMPTS: { status: 429, text: 'too many failed attempts', retryAfterSeconds: 5 },
  TOO_MANY_READINGS: { status: 429, text: 'too many readings', retryAfterSeconds: 5 },
  TOO_MANY_IDEMPOTENCY_KEYS_OF_WRITER: { status: 429, text: 'too many idempotency keys', retryAfterSeconds: 600 },
  STORAGE_FAILED: { status: 500, text: 'storage failed' },
  // 401 would say for good what may not be so: a client sends again what got a 503.
  DEVICE_SUSPENDED: { status: 503, text: 'device is being changed', retryAfterSeconds: 5 },
  TOO_MANY_IDEMPOTENCY_KEYS: { status: 503, text: 'too many idempotency keys', retryAfterSeconds: 60 },
  STORAGE_FULL: { status: 503, text: 'storage full', retryAfterSeconds: 5 },
  // POST /api/log/batch
  BODY_BROKEN: { status: 400, text: 'broken body' },
  NO_READINGS: { status: 400, text: 'no readings' },
  READINGS_REJECTED: { status: 400, text: 'readings rejected' },
  FORBIDDEN: { status: 403, text: 'forbidden' },
  TOO_MANY_BATCHES_OF_ONE: { status: 429, text: 'too many batches', retryAfterSeconds: 5 },
  TOO_MANY_BATCHES: { status: 503, text: 'too many batches', retryAfterSeconds: 5 },
  LATER: { status: 503, text: 'try again later', retryAfterSeconds: 5 },
  // Reads
  EMAIL_UNVERIFIED: { status: 403, text: 'e-mail address not verified' },
  PARAMETER_INVALID: { status: 400, text: 'a parameter is invalid' },
  TOO_MANY_PARAMETERS: { status: 400, text: `at most ${argumentsMax} parameters` },
  HOUR_INVALID: { status: 400, text: 'hour must be a whole number from 1 to 72' },
  DEVICES_INVALID: { status: 400, text: `devices must name 1 to ${devicesMax} devices` },
  DATE_INVALID: { status: 400, text: 'date must be a day of the calendar, as 2026-01-31' },
  DEVICE_UNKNOWN: { status: 404, text: 'device unknown' },
  HTTP_VERSION: { status: 505, text: 'HTTP/1.1 needed' },
  TOO_LARGE: { status: 413, text: tooLarge },
  TOO_MANY_DAYS: { status: 413, text: `${tooLarge}: ask for fewer days with ?days=` },
  TOO_MANY_DEVICES: { status: 413, text: `${tooLarge}: name up to ${devicesMax} devices with ?devices=a,b` },
  FLEET_TOO_LARGE: { status: 413, text: 'too many devices' },
  DATABASE_AWAY: { status: 503, text: 'database unavailable', retryAfterSeconds: 5 },
  TIMED_OUT: { status: 503, text: 'database unavailable', retryAfterSeconds: 10 },
  QUEUE_FULL: { status: 503, text: 'too many queries at once', retryAfterSeconds: 2 },
  TOO_MANY_STREAMS_OF_NETWORK: {
    status: 429,
    text: 'too many event streams to this address',
    retryAfterSeconds: 30,
  },
  TOO_MANY_STREAMS_OF_CREDENTIAL: {
    status: 429,
    text: 'too many event streams of this account or device',
    retryAfterSeconds: 30,
  },
  TOO_MANY_STREAMS: { status: 503, text: 'too many event streams', retryAfterSeconds: 30 },
  CANCELLED: { status: 503, text: 'cancelled', retryAfterSeconds: 1 },
  CLOSING: { status: 503, text: 'shutting down', retryAfterSeconds: 5 },
} as const satisfies ErrorTable
export type LoggerErrorCode = keyof typeof loggerErrors

export const LoggerError = z
  .object({
    status: z.string().meta({ description: 'What is wrong.' }),
    detail: z.string().optional(),
    errors: z.record(z.string(), z.string()).optional().meta({ description: 'What is wrong with each field.' }),
  })
  .meta({ id: 'LoggerError' })

/** `members` say more of this occurrence; a `status` among them stands in place of the text. A `Retry-After` that is set stays. */
export function sendError(reply: FastifyReply, code: LoggerErrorCode, members: object = {}): FastifyReply {
  const { status, text, retryAfterSeconds }: ErrorEntry = loggerErrors[code]
  if (retryAfterSeconds !== undefined && !reply.hasHeader('retry-after'))
    reply.header('retry-after', String(retryAfterSeconds))
  return reply.code(status).send({ status: text, ...members })
}
