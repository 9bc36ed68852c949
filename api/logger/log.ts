/** `PUT /api/log`: one reading of one device. Small firmware talks to it, so the answers are short and have a length. */

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Writer, Writers } from '../../auth/writers.ts'
import { type Fields, unknownNames } from '../../ingest/field-names.ts'
import type { AuthRateLimit } from '../http/auth-rate-limit.ts'
import { readBasicCredentials } from '../http/basic-credentials.ts'
import { addJsonBody } from '../http/json-body.ts'
import { addMethodNotAllowed } from '../http/method-not-allowed.ts'
import { allowNext } from '../http/request-queue.ts'
import { readIdempotencyKey } from '../idempotency/idempotency-key.ts'
import { sendError } from './errors.ts'
import type { Intake, Refusal } from './intake.ts'
import type { ReadingMeter, RejectionReason } from './reading-meter.ts'

export interface LogOptions {
  writers: Pick<Writers, 'ofDevice'>
  intake: Intake
  meter: ReadingMeter
  /** Of failing device credentials. */
  authRateLimit: AuthRateLimit
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Set by the credential check of `PUT /api/log`. */
    writer: Writer | null
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

export function registerLog(app: FastifyInstance, { writers, intake, meter, authRateLimit }: LogOptions): void {
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
    const isExceeded = authRateLimit.isExceeded(request.ip)
    refuse(reply, isExceeded ? { reason: 'throttled', code: 'TOO_MANY_ATTEMPTS' } : unauthorized)
  }

  function refuse(reply: FastifyReply, { reason, code, members }: Refusal): FastifyReply {
    meter.rejected(reason)
    if (code === 'UNAUTHORIZED') reply.header('www-authenticate', 'Basic realm="logger", charset="UTF-8"')
    return sendError(reply, code, members)
  }

  async function log(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const given = readIdempotencyKey(request.headers)
    if (given?.ok === false) return refuse(reply, invalidKey(given.reason))
    const taken = intake.take(request.writer as Writer, request.body, given?.key)
    if (!(taken instanceof Promise)) return refuse(reply, taken)
    allowNext(reply.raw)
    const refusal = await taken
    if (refusal !== undefined) return refuse(reply, refusal)
    return reply.type('application/json; charset=utf-8').send(successOf(request.body as Fields))
  }

  app.route({ method: 'PUT', url: '/log', bodyLimit: bodyBytesMax, onRequest: authenticate, handler: log })
  addMethodNotAllowed(app, '/log', ['PUT'])
}

const unauthorized: Refusal = { reason: 'unauthorized', code: 'UNAUTHORIZED' }

function invalidKey(detail: string): Refusal {
  return { reason: 'invalid', code: 'KEY_INVALID', members: { detail } }
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
