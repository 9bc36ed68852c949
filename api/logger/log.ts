/** `PUT /api/log`: one reading of one device. Small firmware talks to it, so the answers are short and have a length. */

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Device } from '../../auth/devices/device.ts'
import type { Devices } from '../../auth/devices/devices.ts'
import type { WriteRefusal, Writer, Writers } from '../../auth/writers.ts'
import { type Fields, unknownNames } from '../../ingest/field-names.ts'
import type { Ingest } from '../../ingest/ingest.ts'
import type { Outcome } from '../../ingest/journal/journal.ts'
import type { ReadingCheck } from '../../ingest/reading.ts'
import { createAuthRateLimit } from '../http/auth-rate-limit.ts'
import { readBasicCredentials } from '../http/basic-credentials.ts'
import { addJsonBody } from '../http/json-body.ts'
import { addMethodNotAllowed } from '../http/method-not-allowed.ts'
import { allowNext } from '../http/request-queue.ts'
import { type Bucket, createBucket, type Rate, takeToken } from '../http/token-bucket.ts'
import { type LoggerErrorCode, sendError } from './errors.ts'
import type { ReadingMeter, RejectionReason } from './reading-meter.ts'

export interface LogOptions {
  devices: Pick<Devices, 'seen'>
  writers: Pick<Writers, 'ofDevice'>
  ingest: Pick<Ingest, 'accept'>
  check: ReadingCheck
  meter: ReadingMeter
  nowMs: () => number
  deviceRate: Rate
  failedAttemptsPerMinute: number
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Set by the credential check of `PUT /api/log`. */
    writer: Writer | null
  }
}

const bodyBytesMax = 64 * 1024
const success = '{"status":"success"}'

const batchDetail = 'one reading a request; batches go to POST /api/admin/import, or through barograph import'

type Refused = [RejectionReason, LoggerErrorCode, object?]

const refusals: Record<WriteRefusal, Refused> = {
  // It was removed while the body came in.
  DEVICE_UNKNOWN: ['unauthorized', 'UNAUTHORIZED'],
  DEVICE_MISMATCH: ['mismatch', 'DEVICE_MISMATCH'],
  DEVICE_FORBIDDEN: ['mismatch', 'DEVICE_MISMATCH'],
  DEVICE_SUSPENDED: ['suspended', 'DEVICE_SUSPENDED'],
  LOGGING_DISABLED: ['disabled', 'LOGGING_DISABLED'],
}

const outcomeErrors = {
  full: 'STORAGE_FULL',
  closing: 'CLOSING',
  unknown: 'STORAGE_FAILED',
} as const satisfies Record<Exclude<Outcome, 'stored'>, LoggerErrorCode>

const brokenBodies: Partial<Record<number, RejectionReason>> = {
  400: 'invalid',
  408: 'timeout',
  413: 'too_large',
  415: 'media_type',
}

export function registerLog(app: FastifyInstance, options: LogOptions): void {
  const { devices, writers, ingest, check, meter, nowMs, deviceRate } = options
  const authRateLimit = createAuthRateLimit(options.failedAttemptsPerMinute, nowMs)
  const withinRateLimit = createRateLimit(deviceRate, nowMs)
  addJsonBody(app)
  app.decorateRequest('writer', null)
  countBrokenBodies(app, meter)

  /** Before the body is read, so that nobody without credentials can make us read one. */
  function authenticate(request: FastifyRequest, reply: FastifyReply, done: () => void): void {
    const credentials = readBasicCredentials(request.raw.rawHeaders)
    const writer = credentials && writers.ofDevice(credentials.name, credentials.password)
    if (writer !== undefined) {
      request.writer = writer
      done()
      return
    }
    // The body stays unread, so the connection cannot be used again.
    reply.header('connection', 'close')
    if (authRateLimit.isExceeded(request.ip)) {
      refuse(reply, 'throttled', 'TOO_MANY_ATTEMPTS')
    } else {
      refuseCredentials(reply)
    }
  }

  function refuseCredentials(reply: FastifyReply): FastifyReply {
    reply.header('www-authenticate', 'Basic realm="logger", charset="UTF-8"')
    return refuse(reply, 'unauthorized', 'UNAUTHORIZED')
  }

  function refuse(
    reply: FastifyReply,
    reason: RejectionReason,
    code: LoggerErrorCode,
    members: object = {},
  ): FastifyReply {
    meter.rejected(reason)
    return sendError(reply, code, members)
  }

  /** The device that may log this, or why none may. */
  function deviceOf(writer: Writer, body: Fields): Device | Refused {
    const name = body['device']
    if (typeof name !== 'string') {
      const reason = name === undefined ? 'is required' : 'must be a string'
      return ['invalid', 'PAYLOAD_INVALID', { errors: { device: reason } }]
    }
    const device = writer.find(name)
    if (typeof device === 'string') return refusals[device]
    return withinRateLimit(device) ? device : ['throttled', 'TOO_MANY_READINGS']
  }

  async function log(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const startedMs = performance.now()
    const writer = request.writer as Writer
    const { body } = request
    if (!isFields(body)) {
      return refuse(reply, 'invalid', 'JSON_INVALID', Array.isArray(body) ? { detail: batchDetail } : {})
    }
    const device = deviceOf(writer, body)
    if (Array.isArray(device)) return device[0] === 'unauthorized' ? refuseCredentials(reply) : refuse(reply, ...device)
    const checked = check(body, device.battery, nowMs())
    if (!checked.ok) return refuse(reply, 'invalid', 'PAYLOAD_INVALID', { errors: checked.errors })
    const accepted = ingest.accept(device, checked.reading)
    allowNext(reply.raw)
    const outcome = await accepted
    if (outcome !== 'stored') return refuse(reply, outcome, outcomeErrors[outcome])
    devices.seen(device, nowMs())
    meter.stored(performance.now() - startedMs)
    return reply.type('application/json; charset=utf-8').send(successOf(body))
  }

  app.route({ method: 'PUT', url: '/log', bodyLimit: bodyBytesMax, onRequest: authenticate, handler: log })
  addMethodNotAllowed(app, '/log', ['PUT'])
}

/** Whether a device may have one more reading. */
function createRateLimit(rate: Rate, nowMs: () => number): (device: Device) => boolean {
  const buckets = new WeakMap<Device, Bucket>()
  return device => {
    let bucket = buckets.get(device)
    if (bucket === undefined) {
      bucket = createBucket(rate, nowMs())
      buckets.set(device, bucket)
    }
    return takeToken(bucket, rate, nowMs())
  }
}

/** Those that the framework and the reader of JSON refuse. */
function countBrokenBodies(app: FastifyInstance, meter: ReadingMeter): void {
  app.addHook('onError', (_request, _reply, { statusCode }, done) => {
    meter.rejected(brokenBodies[statusCode ?? 500] ?? 'unknown')
    done()
  })
}

/** A name that is misspelled would otherwise be lost without a word. */
function successOf(body: Fields): string {
  const ignored = unknownNames(body)
  return ignored === undefined ? success : JSON.stringify({ status: 'success', ignored })
}

function isFields(body: unknown): body is Fields {
  return typeof body === 'object' && body !== null && !Array.isArray(body)
}
