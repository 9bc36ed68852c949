/** Declares the answers of `POST /api/log/batch`. */

import type { FastifyReply } from 'fastify'
import { z } from 'zod'
import { shortenedName } from '../../ingest/field-names.ts'
import type { Format } from '../../ingest/formats/lines.ts'
import { type Reject, rejectCodes } from '../../ingest/formats/reject.ts'
import type { ImportResult } from '../../ingest/import/import.ts'
import { LoggerError, type LoggerErrorCode, loggerErrors, sendError } from '../http/status-operations.ts'

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

export const BatchAnswer = z
  .object({ status: z.literal('success'), ...counts, ignored: z.array(z.string()).optional() })
  .meta({ id: 'BatchAnswer' })

/** Part of an interrupted body may be stored. */
export const BatchError = LoggerError.extend(z.object(counts).partial().shape).meta({ id: 'BatchError' })

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

export function failureText({ code, reason }: NonNullable<ImportResult['failure']>): string {
  return `${loggerErrors[failures[code]].text}: ${reason}`
}

export function askForCredential(reply: FastifyReply): void {
  reply.header('www-authenticate', 'Basic realm="logger", charset="UTF-8"')
}

export function answerBatch(
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
