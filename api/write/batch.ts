/** `POST /api/log/batch`: many readings of one or several devices. */

import type { FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { isPassing } from '../../auth/passing-errors.ts'
import type { AuthRateLimit } from '../../auth/rate-limits.ts'
import type { CredentialWriter, NoWriter } from '../../auth/writers.ts'
import { shortenedName } from '../../ingest/field-names.ts'
import type { Format } from '../../ingest/formats/lines.ts'
import { type Reject, rejectCodes } from '../../ingest/formats/reject.ts'
import type { ImportResult } from '../../ingest/import/import.ts'
import type { FairShare } from '../../ingest/intake/rates.ts'
import { textWithDetails } from '../../ingest/intake/refusal.ts'
import type { Ranges } from '../../ingest/reading.ts'
import { setRetryAfter } from '../http/errors.ts'
import { bodyOf } from '../http/request-body.ts'
import type { OperationGroup } from '../http/route-family.ts'
import {
  type Declared,
  LoggerError,
  type LoggerErrorCode,
  loggerErrors,
  sendError,
  type WriteOperation,
} from '../http/status-operations.ts'
import { sourceOfRequest } from './accept-once.ts'
import { BatchParameters, readBatchHead } from './batch-head.ts'
import { type BatchImportOptions, createBatchImporter } from './batch-import.ts'
import type { BulkMeter, BulkSource } from './bulk-meter.ts'
import { createFindWriter, type FindWriterOptions } from './find-writer.ts'
import { IdempotencyKey, refusalsOfWrites, writeCredentials } from './published-writes.ts'
import { readingBody } from './reading-body.ts'

const BatchReject = z.object({
  line: z.int().optional().meta({ description: 'From 1, the header included.' }),
  index: z.int().optional().meta({ description: 'In the array, from 0.' }),
  device: z.string().optional(),
  code: z.enum(rejectCodes),
  reason: z.string(),
})

const counts = {
  stored: z.int(),
  replaced: z.int().optional().meta({ description: 'Stored readings that replaced an earlier one of the same body.' }),
  rejected: z.int(),
  rejects: z.array(BatchReject),
  rejects_truncated: z.literal(true).optional().meta({ description: 'More were rejected than are listed.' }),
}

const BatchAnswer = z
  .object({ status: z.literal('success'), ...counts, ignored: z.array(z.string()).optional() })
  .meta({ id: 'BatchAnswer' })

/** Part of an interrupted body may be stored. */
const BatchError = LoggerError.extend(z.object(counts).partial().shape).meta({ id: 'BatchError' })

type FailureCode = NonNullable<ImportResult['failure']>['code']

const failures: Record<FailureCode, LoggerErrorCode> = {
  UNAUTHORIZED: 'UNAUTHORIZED',
  FORBIDDEN: 'FORBIDDEN',
  TOO_BUSY: 'TOO_MANY_BATCHES',
  CONTENT_UNKNOWN: 'PAYLOAD_INVALID',
  HEADER_INVALID: 'PAYLOAD_INVALID',
  NO_ROWS: 'NO_READINGS',
  DATABASE_AWAY: 'LATER',
  BODY_BROKEN: 'BODY_BROKEN',
  PAYLOAD_TOO_LARGE: 'PAYLOAD_TOO_LARGE',
  TIMEOUT: 'TIMEOUT',
  JSON_INVALID: 'JSON_INVALID',
  STORAGE_FULL: 'STORAGE_FULL',
  CLOSING: 'CLOSING',
  STORAGE_FAILED: 'STORAGE_FAILED',
}

function failureText({ code, reason }: NonNullable<ImportResult['failure']>): string {
  return `${loggerErrors[failures[code]].text}: ${reason}`
}

function askForCredential(reply: FastifyReply): void {
  reply.header('www-authenticate', 'Basic realm="logger", charset="UTF-8"')
}

function answerBatch(
  reply: FastifyReply,
  { report, failure }: ImportResult,
  { format, isStrict }: { format: Format; isStrict: boolean },
): FastifyReply {
  const { accepted: stored, replaced, rejected } = report
  const rejects = report.rejects.map(reject => rejectOf(reject, format))
  const counts = {
    stored,
    ...(replaced > 0 ? { replaced } : {}),
    rejected,
    rejects,
    ...(report.rejectsTruncated ? { rejects_truncated: true } : {}),
  }
  const names = [...new Set([...report.ignored, ...report.leftOut.fields.map(shortenedName)])]
  const ignored = names.length === 0 ? {} : { ignored: names }
  if (failure !== undefined) {
    const code = failures[failure.code]
    if (code === 'UNAUTHORIZED') askForCredential(reply)
    return sendError(reply, code, { detail: failure.reason, ...counts })
  }
  if (isStrict && rejected > 0) return sendError(reply, 'READINGS_REJECTED', counts)
  return reply
    .type('application/json; charset=utf-8')
    .send(JSON.stringify({ status: 'success', ...counts, ...ignored }))
}

/** Elements of an array are counted from 0, as the sender counts. */
function rejectOf({ line, device, code, reason }: Reject, format: Format): object {
  return {
    ...(format === 'json' ? { index: line - 1 } : { line }),
    ...(device === undefined ? {} : { device }),
    code,
    reason,
  }
}

export interface BatchOptions extends FindWriterOptions, BatchImportOptions {
  authRateLimit: AuthRateLimit
  meter: BulkMeter
  fairShare: FairShare
}

/** The group has its own scope, whose bodies are passed as streams. */
export function batchGroup(options: BatchOptions): OperationGroup<WriteOperation> {
  const { authRateLimit, bodyBytesMax, meter, fairShare, ranges } = options
  const importer = createBatchImporter(options)
  const findWriter = createFindWriter(options)
  const writers = new WeakMap<FastifyRequest, CredentialWriter>()

  function sourceOfBatch(request: FastifyRequest): BulkSource {
    const way = 'batch'
    return { ...sourceOfRequest(way, writers.get(request), request), way }
  }

  /** The body stays unread, so the connection cannot be used again. */
  function refuseUnread(reply: FastifyReply, code: LoggerErrorCode, members: object = {}): FastifyReply {
    meter.refused(sourceOfBatch(reply.request), textWithDetails(loggerErrors[code].text, members))
    return sendError(reply.header('connection', 'close'), code, members)
  }

  /** Runs before the body is read, so that clients without credentials cannot cause reads. */
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
      return refuseUnread(setRetryAfter(reply, waitSeconds), 'TOO_MANY_READINGS')
    }
    const head = readBatchHead(request, bodyBytesMax)
    if ('code' in head) return refuseUnread(reply.headers(head.headers ?? {}), head.code, head.members)
    const running = importer.run(writer, head, () => bodyOf(request.raw))
    if (running === 'busy') return refuseUnread(reply, 'TOO_MANY_BATCHES_OF_ONE')
    const result = await running
    const { report, refusal } = result
    if (!request.raw.complete) reply.header('connection', 'close')
    fairShare.charge(writer.id, report.linesDone, report.bytes)
    const source = sourceOfBatch(request)
    if (refusal !== undefined) {
      meter.refused(source, textWithDetails(loggerErrors[refusal.code].text, refusal.members))
      return sendError(reply, refusal.code, { ...refusal.members, stored: 0 })
    }
    meter.taken(source, report.accepted, report)
    if (result.failure !== undefined) meter.refused(source, failureText(result.failure))
    return answerBatch(reply, result, head)
  }

  return {
    operations: [{ ...logBatch(ranges), onRequest: authenticate, handler: take }],
    prepare(scope) {
      // A body may be long, so imports have to close before the server waits for its requests.
      scope.addHook('preClose', () => importer.close())
      scope.removeAllContentTypeParsers()
      // The route itself refuses unknown media types.
      scope.addContentTypeParser('*', (_request, payload, done) => done(null, payload))
    },
  }
}

function logBatch(ranges: Ranges): Declared<WriteOperation> {
  return {
    method: 'POST',
    path: '/log/batch',
    name: 'log_batch',
    summary: 'Store readings that have times',
    description:
      'Of a device, or by an API key with the scope ingest. As CSV, NDJSON or a JSON array, also compressed with gzip or zstd.' +
      ' Each reading has a timestamp.',
    credentials: writeCredentials,
    parameters: { header: IdempotencyKey, query: BatchParameters },
    body: { json: z.array(readingBody(ranges)), text: ['application/x-ndjson', 'text/csv'] },
    success: { status: 200, description: 'Readings that it counts as stored are on disk', json: BatchAnswer },
    refusals: [
      ...refusalsOfWrites,
      'BODY_BROKEN',
      'NO_READINGS',
      'READINGS_REJECTED',
      'FORBIDDEN',
      'PARAMETER_INVALID',
      'TOO_MANY_BATCHES_OF_ONE',
      'TOO_MANY_BATCHES',
      'LATER',
    ],
    error: BatchError,
  }
}
