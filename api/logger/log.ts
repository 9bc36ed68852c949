/** `PUT /api/log`: one reading of one device. Small firmware talks to it, so the answers are short and have a length. */

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Device } from '../../auth/devices/device.ts'
import type { Devices } from '../../auth/devices/devices.ts'
import { type Fields, unknownNames } from '../../ingest/field-names.ts'
import type { Ingest } from '../../ingest/ingest.ts'
import type { Outcome } from '../../ingest/journal/journal.ts'
import type { ReadingCheck } from '../../ingest/reading.ts'
import { readBasicCredentials } from '../http/basic-credentials.ts'
import { createFailedAttempts } from '../http/failed-attempts.ts'
import { addJsonBody } from '../http/json-body.ts'
import type { IngestMeter, RejectionReason } from '../http/metrics.ts'
import { refuseOtherMethods } from '../http/other-methods.ts'
import { allowNext } from '../http/request-queue.ts'
import { type Bucket, createBucket, type Rate, takeToken } from '../http/token-bucket.ts'

export interface LogOptions {
  devices: Pick<Devices, 'authenticate' | 'get' | 'seen'>
  ingest: Pick<Ingest, 'accept'>
  check: ReadingCheck
  meter: IngestMeter
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
const retryAfterSeconds = '5'
const success = '{"status":"success"}'

const isNoObject = { status: 'invalid json' }
const isBatch = {
  ...isNoObject,
  detail: 'one reading a request; batches go to POST /api/admin/import, or through barograph import',
}

const refusals = {
  full: { code: 503, body: { status: 'storage full' } },
  closing: { code: 503, body: { status: 'shutting down' } },
  unknown: { code: 500, body: { status: 'storage failed' } },
} satisfies Record<Exclude<Outcome, 'stored'>, { code: number; body: object }>

const brokenBodies: Partial<Record<number, RejectionReason>> = {
  400: 'invalid',
  408: 'timeout',
  413: 'too_large',
  415: 'media_type',
}

export function registerLog(app: FastifyInstance, options: LogOptions): void {
  const { devices, ingest, check, meter, nowMs, deviceRate } = options
  const failedAttempts = createFailedAttempts(options.failedAttemptsPerMinute, nowMs)
  const hasShare = createShares(deviceRate, nowMs)
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
    if (failedAttempts.isTooMany(request.ip)) {
      refuse(reply, 429, { status: 'too many failed attempts' }, 'throttled')
    } else {
      refuseCredentials(reply)
    }
  }

  function refuseCredentials(reply: FastifyReply): FastifyReply {
    reply.header('www-authenticate', 'Basic realm="logger", charset="UTF-8"')
    return refuse(reply, 401, { status: 'unauthorized' }, 'unauthorized')
  }

  function refuse(reply: FastifyReply, code: number, body: object, reason: RejectionReason): FastifyReply {
    meter.rejected(reason)
    if (code === 429 || code === 503) reply.header('retry-after', retryAfterSeconds)
    return reply.code(code).send(body)
  }

  /** Why this device may not log this; undefined when it may. */
  function refusalOf(device: Device, body: Fields): [number, object, RejectionReason] | undefined {
    const name = body['device']
    if (typeof name !== 'string') {
      const reason = name === undefined ? 'is required' : 'must be a string'
      return [400, { status: 'invalid payload', errors: { device: reason } }, 'invalid']
    }
    if (name !== device.name && name.normalize('NFC') !== device.name) {
      return [403, { status: 'device mismatch' }, 'mismatch']
    }
    // 401 would say for good what may not be so: a client sends again what got a 503.
    if (device.suspended) return [503, { status: 'device is being changed' }, 'suspended']
    if (!device.log_switch) return [403, { status: 'logging disabled' }, 'disabled']
    return hasShare(device) ? undefined : [429, { status: 'too many readings' }, 'throttled']
  }

  async function log(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const startedMs = performance.now()
    const device = request.device as Device
    const { body } = request
    // It may have been removed while the body came in.
    if (devices.get(device.name) !== device) return refuseCredentials(reply)
    if (!isFields(body)) return refuse(reply, 400, Array.isArray(body) ? isBatch : isNoObject, 'invalid')
    const refusal = refusalOf(device, body)
    if (refusal !== undefined) return refuse(reply, ...refusal)
    const checked = check(body, device.battery, nowMs())
    if (!checked.ok) return refuse(reply, 400, { status: 'invalid payload', errors: checked.errors }, 'invalid')
    const accepted = ingest.accept(device, checked.reading)
    allowNext(reply.raw)
    const outcome = await accepted
    if (outcome !== 'stored') return refuse(reply, refusals[outcome].code, refusals[outcome].body, outcome)
    devices.seen(device, nowMs())
    meter.stored(performance.now() - startedMs)
    return reply.type('application/json; charset=utf-8').send(successOf(body))
  }

  app.route({ method: 'PUT', url: '/api/log', bodyLimit: bodyBytesMax, onRequest: authenticate, handler: log })
  refuseOtherMethods(app, '/api/log', ['PUT'])
}

/** Whether a device may have one more reading. */
function createShares(rate: Rate, nowMs: () => number): (device: Device) => boolean {
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
function countBrokenBodies(app: FastifyInstance, meter: IngestMeter): void {
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
