/** Declares operations of the logger API, with reads and writes under one prefix, and their errors. */

import type { FastifyReply, onRequestHookHandler, RouteHandlerMethod } from 'fastify'
import { z } from 'zod'
import { refusalTexts } from '../../ingest/intake/refusal.ts'
import { commonErrors, type ErrorTable, refuseMethod, serverErrors, setRefusal } from './errors.ts'
import type { Operation } from './operation.ts'
import { argumentsMax, devicesMax } from './parameters.ts'
import type { Rules } from './route-family.ts'

interface Handled extends Operation<LoggerErrorCode> {
  onRequest: onRequestHookHandler
  handler: RouteHandlerMethod
}

export interface WriteOperation extends Handled {
  method: 'PUT' | 'POST'
}

/** The type requires a subject: a read without one would be open to every reader. */
export interface ReadOperation extends Handled {
  method: 'GET'
  subject: { readonly of: 'device' | 'devices' | 'fleet' | 'station' }
  preflight: RouteHandlerMethod
}

/** Declaration of an operation without its handler. */
export type Declared<Handling extends Handled> = Omit<Handling, 'onRequest' | 'handler'>

export type LoggerOperation = ReadOperation | WriteOperation

export const loggerRules: Rules<LoggerOperation> = {
  onRequest: ({ onRequest }) => onRequest,
  handler: ({ handler }) => handler,
  preflight: ([operation]) => (operation?.method === 'GET' ? operation.preflight : undefined),
  refuseMethod: (_request, reply, allowed) => refuseMethod(reply, allowed),
}

const tooLarge = 'too many readings for one answer'

export const loggerErrors = {
  ...serverErrors,
  // PUT /api/log
  PAYLOAD_INVALID: { status: 400, text: refusalTexts.PAYLOAD_INVALID },
  KEY_INVALID: { status: 400, text: refusalTexts.KEY_INVALID },
  DEVICE_MISMATCH: { status: 403, text: refusalTexts.DEVICE_MISMATCH },
  LOGGING_DISABLED: { status: 403, text: refusalTexts.LOGGING_DISABLED },
  TOO_MANY_OF_OWNER: { status: 403, text: refusalTexts.TOO_MANY_OF_OWNER },
  KEY_REUSED: { status: 422, text: refusalTexts.KEY_REUSED },
  TOO_MANY_ATTEMPTS: commonErrors.TOO_MANY_ATTEMPTS,
  TOO_MANY_READINGS: commonErrors.TOO_MANY_READINGS,
  TOO_MANY_IDEMPOTENCY_KEYS_OF_WRITER: {
    status: 429,
    text: refusalTexts.TOO_MANY_IDEMPOTENCY_KEYS_OF_WRITER,
    retryAfterSeconds: 600,
  },
  STORAGE_FAILED: commonErrors.STORAGE_FAILED,
  // A 401 would be final for the client, while it repeats a request after a 503.
  DEVICE_SUSPENDED: { status: 503, text: refusalTexts.DEVICE_SUSPENDED, retryAfterSeconds: 5 },
  TOO_MANY_IDEMPOTENCY_KEYS: { status: 503, text: refusalTexts.TOO_MANY_IDEMPOTENCY_KEYS, retryAfterSeconds: 60 },
  STORAGE_FULL: commonErrors.STORAGE_FULL,
  // POST /api/log/batch
  BODY_BROKEN: commonErrors.BODY_BROKEN,
  NO_READINGS: { status: 400, text: 'no readings' },
  READINGS_REJECTED: { status: 400, text: 'readings rejected' },
  FORBIDDEN: commonErrors.FORBIDDEN,
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
  DEVICE_UNKNOWN: commonErrors.DEVICE_UNKNOWN,
  STATION_UNKNOWN: commonErrors.STATION_UNKNOWN,
  HTTP_VERSION: commonErrors.HTTP_VERSION,
  TOO_LARGE: { status: 413, text: tooLarge },
  TOO_MANY_DAYS: { status: 413, text: `${tooLarge}: ask for fewer days with ?days=` },
  TOO_MANY_DEVICES: { status: 413, text: `${tooLarge}: name up to ${devicesMax} devices with ?devices=a,b` },
  FLEET_TOO_LARGE: { status: 413, text: 'too many devices' },
  DATABASE_AWAY: commonErrors.DATABASE_AWAY,
  TIMED_OUT: commonErrors.TIMED_OUT,
  QUEUE_FULL: commonErrors.QUEUE_FULL,
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
  CLOSING: commonErrors.CLOSING,
} as const satisfies ErrorTable
export type LoggerErrorCode = keyof typeof loggerErrors

export const LoggerError = z
  .object({
    status: z.string().meta({ description: 'The error.' }),
    detail: z.string().optional(),
    errors: z.record(z.string(), z.string()).optional().meta({ description: 'The error of each field.' }),
  })
  .meta({ id: 'LoggerError' })

/** `members` describe this occurrence. A `status` among them replaces the text. */
export function sendError(reply: FastifyReply, code: LoggerErrorCode, members: object = {}): FastifyReply {
  return setRefusal(reply, loggerErrors[code]).send({ status: loggerErrors[code].text, ...members })
}
