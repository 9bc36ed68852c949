/** `PUT /api/log`: one reading of one device. Small firmware talks to it, so the answers are short and have a length. */

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Device } from '../../auth/devices/device.ts'
import type { Devices } from '../../auth/devices/devices.ts'
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
  devices: Pick<Devices, 'authenticate' | 'get' | 'seen'>
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
    device: Device | null
  }
}

const bodyBytesMax = 64 * 1024
const success = '{"status":"success"}'

const batchDetail = 'one reading a request; batches go to POST /api/admin/import, or through barograph import'

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
  const { devices, ingest, check, meter, nowMs, deviceRate } = options
  const authRateLimit = createAuthRateLimit(options.failedAttemptsPerMinute, nowMs)
  const withinRateLimit = createRateLimit(deviceRate, nowMs)
  addJsonBody(app)
  app.decorateRequest('device', null)
  countBrokenBodies(app, meter)

  /** Before the body is read, so that nobody without credentials can make us read one. */
  function authenticate(request: FastifyRequest, reply: FastifyReply, done: () => void): void {
    const credentials = readBasicCredentials(request.raw.rawHeaders)
    const device = credentials && devices.authenticate(credentials.name, credentials.password)
    if (device !== undefined) {
      request.device = device
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

  /** Why this device may not log this; undefined when it may. */
  function refusalOf(device: Device, body: Fields): [RejectionReason, LoggerErrorCode, object?] | undefined {
    const name = body['device']
    if (typeof name !== 'string') {
      const reason = name === undefined ? 'is required' : 'must be a string'
      return ['invalid', 'PAYLOAD_INVALID', { errors: { device: reason } }]
    }
    if (name !== device.name && name.normalize('NFC') !== device.name) {
      return ['mismatch', 'DEVICE_MISMATCH']
    }
    if (device.suspended) return ['suspended', 'DEVICE_SUSPENDED']
    if (!device.log_switch) return ['disabled', 'LOGGING_DISABLED']
    return withinRateLimit(device) ? undefined : ['throttled', 'TOO_MANY_READINGS']
  }

  async function log(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const startedMs = performance.now()
    const device = request.device as Device
    const { body } = request
    // It may have been removed while the body came in.
    if (devices.get(device.name) !== device) return refuseCredentials(reply)
    if (!isFields(body)) {
      return refuse(reply, 'invalid', 'JSON_INVALID', Array.isArray(body) ? { detail: batchDetail } : {})
    }
    const refusal = refusalOf(device, body)
    if (refusal !== undefined) return refuse(reply, ...refusal)
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
