/**
 * `PUT /api/log`: stores one reading of one device. Small firmware sends it, so answers are short and have a length.
 */

import type { FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { isPassing } from '../../auth/passing-errors.ts'
import type { AuthRateLimit } from '../../auth/rate-limits.ts'
import type { CredentialWriter, NoWriter, Writer } from '../../auth/writers.ts'
import { readIdempotencyKey } from '../../ingest/idempotency/idempotency-key.ts'
import { databaseAway, type Intake, type RequestKey, type StoredReading } from '../../ingest/intake/intake.ts'
import type { ReadingMeter, RejectionReason } from '../../ingest/intake/reading-meter.ts'
import { type Refusal, refusalText } from '../../ingest/intake/refusal.ts'
import type { Ranges } from '../../ingest/reading.ts'
import type { Rejection } from '../../ingest/rejections/rejection.ts'
import { errorCodeOf } from '../http/errors.ts'
import { addJsonBody } from '../http/request-body.ts'
import type { OperationGroup, Scope } from '../http/route-family.ts'
import { type Declared, loggerErrors, sendError, type WriteOperation } from '../http/status-operations.ts'
import { sourceOfRequest } from './accept-once.ts'
import { createFindWriter, type FindWriterOptions } from './find-writer.ts'
import { IdempotencyKey, refusalsOfWrites, writeCredentials } from './published-writes.ts'
import { readingBody } from './reading-body.ts'

export interface LogOptions extends FindWriterOptions {
  intake: Intake
  meter: ReadingMeter
  /** Accepted values of a reading. */
  ranges: Ranges
  authRateLimit: AuthRateLimit
}

declare module 'fastify' {
  interface FastifyRequest {
    /** The credential check of `PUT /api/log` sets it. */
    writer: CredentialWriter | null
  }
}

const bodyBytesMax = 64 * 1024
const success = '{"status":"success"}'

const brokenBodies: Partial<Record<number, RejectionReason>> = {
  400: 'invalid',
  408: 'timeout',
  413: 'too_large',
  415: 'media_type',
}

export function logGroup(options: LogOptions): OperationGroup<WriteOperation> {
  const { intake, meter, authRateLimit, ranges } = options
  const findWriter = createFindWriter(options)

  /** Runs before the body is read, so that clients without credentials cannot cause reads. */
  function authenticate(request: FastifyRequest, reply: FastifyReply, done: (error?: Error) => void): void {
    const admit = (found: CredentialWriter | NoWriter): void => {
      if (typeof found === 'string') {
        refuseUnread(reply, found === 'FORBIDDEN' ? forbidden : refusalOfAttempt(request))
        return
      }
      request.writer = found
      done()
    }
    const fail = (error: Error) => (isPassing(error) ? refuseUnread(reply, databaseAway) : done(error))
    try {
      const found = findWriter(request.raw)
      if (!(found instanceof Promise)) admit(found)
      else found.then(admit).catch(fail)
    } catch (error) {
      fail(error as Error)
    }
  }

  function refusalOfAttempt({ ip }: FastifyRequest): Refusal {
    return authRateLimit.isExceeded(ip) ? { reason: 'throttled', code: 'TOO_MANY_ATTEMPTS' } : unauthorized
  }

  /** The body stays unread, so the connection cannot be used again. */
  function refuseUnread(reply: FastifyReply, refusal: Refusal): FastifyReply {
    return refuse(reply.header('connection', 'close'), refusal)
  }

  function refuse(reply: FastifyReply, { reason, code, members }: Refusal): FastifyReply {
    meter.rejected(reason, rejectionOf(reply.request, refusalText({ code, members })))
    if (code === 'UNAUTHORIZED') reply.header('www-authenticate', 'Basic realm="logger", charset="UTF-8"')
    return sendError(reply, code, members)
  }

  async function log(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const given = readIdempotencyKey(request.headers)
    if (given?.ok === false) return refuse(reply, invalidKey(given.reason))
    const admitted = request.writer as CredentialWriter
    // A device is checked with its record, without a promise.
    const writer = admitted.device === undefined ? await renewed(admitted) : admitted
    if ('code' in writer) return refuse(reply, writer)
    const preparing = intake.prepare(writer, request.body)
    const prepared = preparing === undefined ? writer : ((await preparing) ?? (await renewed(admitted)))
    if ('code' in prepared) return refuse(reply, prepared)
    const taken = intake.take(prepared, request.body, keyOf(given, admitted))
    if (!(taken instanceof Promise)) return refuse(reply, taken)
    const outcome = await taken
    if ('reason' in outcome) return refuse(reply, outcome)
    return accept(reply, outcome)
  }

  function accept(reply: FastifyReply, stored: StoredReading): FastifyReply {
    for (const { part, reason } of stored.leftOut) meter.leftOut({ ...rejectionOf(reply.request, reason), part })
    return reply.type('application/json; charset=utf-8').send(successOf(stored))
  }

  return {
    operations: [{ ...logReading(ranges), onRequest: authenticate, handler: log }],
    prepare(scope) {
      addJsonBody(scope)
      scope.decorateRequest('writer', null)
      countBrokenBodies(scope, meter)
    },
  }
}

const Stored = z
  .object({
    status: z.literal('success'),
    ignored: z
      .array(z.string())
      .optional()
      .meta({ description: 'Names of fields that are not stored, or hold a value outside its range.' }),
  })
  .meta({ id: 'Stored' })

function logReading(ranges: Ranges): Declared<WriteOperation> {
  return {
    method: 'PUT',
    path: '/log',
    name: 'log_reading',
    summary: 'Store a reading',
    description: 'Of a device, or by an API key with the scope ingest. The answer is sent when the reading is on disk.',
    credentials: writeCredentials,
    parameters: { header: IdempotencyKey },
    body: { json: readingBody(ranges) },
    bodyBytesMax,
    success: { status: 200, description: 'The reading is on disk', json: Stored },
    refusals: [
      ...refusalsOfWrites,
      'FORBIDDEN',
      'DEVICE_MISMATCH',
      'LOGGING_DISABLED',
      'TOO_MANY_OF_OWNER',
      'DEVICE_UNKNOWN',
      'DEVICE_SUSPENDED',
    ],
  }
}

/** A key may have expired while the body, a registry or an idempotency key was awaited. */
export async function renewed(writer: CredentialWriter): Promise<Writer | Refusal> {
  try {
    const now = await writer.renewed()
    if (typeof now !== 'string') return now
    return now === 'FORBIDDEN' ? forbidden : unauthorized
  } catch (error) {
    if (isPassing(error)) return databaseAway
    throw error
  }
}

function keyOf(given: { key: string } | undefined, writer: CredentialWriter): RequestKey | undefined {
  return given && { key: given.key, renewed: () => renewed(writer) }
}

export const unauthorized: Refusal = { reason: 'unauthorized', code: 'UNAUTHORIZED' }
export const forbidden: Refusal = {
  reason: 'unauthorized',
  code: 'FORBIDDEN',
  members: { detail: 'the API key lacks the scope ingest' },
}

function invalidKey(detail: string): Refusal {
  return { reason: 'invalid', code: 'KEY_INVALID', members: { detail } }
}

/** Names the reading's device, as far as it could be read. */
function rejectionOf(request: FastifyRequest, reason: string): Rejection {
  const { writer, body } = request
  const source = sourceOfRequest('put', writer, request)
  const name = typeof body === 'object' && body !== null && 'device' in body ? body.device : undefined
  return { ...source, device: typeof name === 'string' ? name : source.device, reason }
}

/** Counts bodies that the framework or the JSON parser refuses. */
function countBrokenBodies(app: Scope, meter: ReadingMeter): void {
  app.addHook('onError', (request, _reply, error, done) => {
    const { text } = loggerErrors[errorCodeOf(error)]
    meter.rejected(brokenBodies[error.statusCode ?? 500] ?? 'unknown', rejectionOf(request, text))
    done()
  })
}

/** Names ignored fields, as a misspelled name would otherwise be lost silently. */
function successOf({ ignored }: StoredReading): string {
  return ignored === undefined ? success : JSON.stringify({ status: 'success', ignored })
}
