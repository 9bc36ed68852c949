/** Parses the head of a batch request. */

import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { Format } from '../../ingest/formats/lines.ts'
import { readIdempotencyKey } from '../../ingest/idempotency/idempotency-key.ts'
import { type Coding, codingOf } from '../../ingest/import/body-bytes.ts'
import { knownCodings, mediaTypeOf } from '../http/request-body.ts'
import type { LoggerErrorCode } from '../http/status-operations.ts'

export interface BatchHead {
  format: Format
  coding: Coding
  isStrict: boolean
  key: string | undefined
}

/** Reason why the body is not read. */
export interface BatchRefusal {
  code: LoggerErrorCode
  members?: object
  headers?: Record<string, string>
}

const formats = new Map<string, Format>([
  ['application/json', 'json'],
  ['application/x-ndjson', 'ndjson'],
  ['text/csv', 'csv'],
])

export function readBatchHead(request: FastifyRequest, bodyBytesMax: number): BatchHead | BatchRefusal {
  const format = formats.get(mediaTypeOf(request))
  if (format === undefined) return mediaTypeRefusal(`send ${[...formats.keys()].join(', ')}`)
  const coding = codingOf(request.headers['content-encoding'])
  if (coding === undefined) {
    return {
      ...mediaTypeRefusal(`the content codings are ${knownCodings}`),
      headers: { 'accept-encoding': knownCodings },
    }
  }
  if (Number(request.headers['content-length'] ?? 0) > bodyBytesMax) {
    return { code: 'PAYLOAD_TOO_LARGE' }
  }
  const given = readIdempotencyKey(request.headers)
  if (given?.ok === false) return { code: 'KEY_INVALID', members: { detail: given.reason } }
  const isStrict = readStrict((request.query as Record<string, unknown>)['strict'])
  if (isStrict === undefined) return { code: 'PARAMETER_INVALID', members: { detail: strictInvalid } }
  return { format, coding, isStrict, key: given?.key }
}

const strictWords = ['0', '1', 'false', 'true'] as const
export const BatchParameters = z.object({
  strict: z.enum(strictWords).optional().meta({ description: '1 or true stores all readings or none.' }),
})
const strictInvalid = `strict must be one of ${strictWords.join(', ')}`

/** Undefined for other values. */
function readStrict(argument: unknown = '0'): boolean | undefined {
  return strictWords.some(word => word === argument) ? argument === '1' || argument === 'true' : undefined
}

function mediaTypeRefusal(detail: string): BatchRefusal {
  return { code: 'MEDIA_TYPE_UNSUPPORTED', members: { detail } }
}
