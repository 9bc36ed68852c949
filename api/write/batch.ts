/**
 * `POST /api/log/batch`: readings with times of their own, as a JSON array, NDJSON or CSV. The body is streamed through a
 * thread into the journal; the answer says that what it counts as stored is on disk.
 */

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { isPassing } from '../../auth/passing-errors.ts'
import type { CredentialWriter, NoWriter } from '../../auth/writers.ts'
import type { AuthRateLimit } from '../http/auth-rate-limit.ts'
import { bodyOf } from '../http/coded-body.ts'
import { addMethodNotAllowed } from '../http/method-not-allowed.ts'
import { type LoggerErrorCode, sendError } from '../http/status-errors.ts'
import { answerBatch, askForCredential } from './batch-answer.ts'
import { readBatchHead } from './batch-head.ts'
import { type BatchImportOptions, createBatchImporter } from './batch-import.ts'
import type { BulkMeter } from './bulk-meter.ts'
import type { FairShare } from './fair-share.ts'
import { createFindWriter, type FindWriterOptions } from './find-writer.ts'

export interface BatchOptions extends FindWriterOptions, BatchImportOptions {
  authRateLimit: AuthRateLimit
  meter: BulkMeter
  fairShare: FairShare
}

/** Registers the route in a scope of its own, whose bodies are handed on as streams. */
export function registerBatch(scope: FastifyInstance, options: BatchOptions): void {
  const { authRateLimit, bodyBytesMax, meter, fairShare } = options
  const importer = createBatchImporter(options)
  const findWriter = createFindWriter(options)
  const writers = new WeakMap<FastifyRequest, CredentialWriter>()
  // Before the server waits for its requests: one of them may be a body that lasts.
  scope.addHook('preClose', () => importer.close())
  scope.removeAllContentTypeParsers()
  // Of every type, so that the route itself can say which ones it takes.
  scope.addContentTypeParser('*', (_request, payload, done) => done(null, payload))

  /** Before the body is read, so that nobody without credentials can make us read one. */
  async function authenticate(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply | undefined> {
    let writer: CredentialWriter | NoWriter
    try {
      writer = await findWriter(request.raw)
    } catch (error) {
      if (isPassing(error)) return refuseUnread(reply, 'DATABASE_AWAY')
      throw error
    }
    if (writer === 'FORBIDDEN')
      return refuseUnread(reply, 'FORBIDDEN', { detail: 'the API key lacks the scope ingest' })
    if (writer !== 'UNAUTHENTICATED') {
      writers.set(request, writer)
      return undefined
    }
    if (authRateLimit.isExceeded(request.ip)) return refuseUnread(reply, 'TOO_MANY_ATTEMPTS')
    askForCredential(reply)
    return refuseUnread(reply, 'UNAUTHORIZED')
  }

  async function take(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const writer = writers.get(request) as CredentialWriter
    const waitSeconds = fairShare.waitSeconds(writer.id)
    if (waitSeconds !== undefined) {
      return refuseUnread(reply.header('retry-after', String(waitSeconds)), 'TOO_MANY_READINGS')
    }
    const head = readBatchHead(request, bodyBytesMax)
    if ('code' in head) return refuseUnread(reply.headers(head.headers ?? {}), head.code, head.members)
    const running = importer.run(writer, head, () => bodyOf(request.raw))
    if (running === 'busy') return refuseUnread(reply, 'TOO_MANY_BATCHES_OF_ONE')
    const result = await running
    const { report, refusal } = result
    if (!request.raw.complete) reply.header('connection', 'close')
    fairShare.charge(writer.id, report.linesDone, report.bytes)
    if (refusal !== undefined) return sendError(reply, refusal.code, { ...refusal.members, stored: 0 })
    meter.taken('batch', report.accepted, report.rejected)
    return answerBatch(reply, result, head)
  }

  scope.route({ method: 'POST', url: '/log/batch', onRequest: authenticate, handler: take })
  addMethodNotAllowed(scope, '/log/batch', ['POST'])
}

/** The body stays unread, so the connection cannot be used again. */
function refuseUnread(reply: FastifyReply, code: LoggerErrorCode, members: object = {}): FastifyReply {
  return sendError(reply.header('connection', 'close'), code, members)
}
