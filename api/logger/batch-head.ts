/** What the head of a batch says about its body. */

import type { Duplex } from 'node:stream'
import type { FastifyRequest } from 'fastify'
import type { Format } from '../../ingest/formats/line-reader.ts'
import { decoderOf, knownCodings } from '../http/coded-body.ts'
import { mediaTypeOf } from '../http/media-type.ts'
import { readIdempotencyKey } from '../idempotency/idempotency-key.ts'
import type { LoggerErrorCode } from './errors.ts'

export interface BatchHead {
  format: Format
  decoder: Duplex
  isStrict: boolean
  /** The idempotency key. */
  key: string | undefined
}

/** Why the body is not read. */
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
  const coding = request.headers['content-encoding']
  const decoder = decoderOf(coding)
  if (decoder === undefined) {
    return {
      ...mediaTypeRefusal(`the content codings are ${knownCodings}`),
      headers: { 'accept-encoding': knownCodings },
    }
  }
  if (coding === undefined && Number(request.headers['content-length'] ?? 0) > bodyBytesMax) {
    return { code: 'PAYLOAD_TOO_LARGE' }
  }
  const given = readIdempotencyKey(request.headers)
  if (given?.ok === false) return { code: 'KEY_INVALID', members: { detail: given.reason } }
  return { format, decoder, isStrict: isSet((request.query as Record<string, unknown>)['strict']), key: given?.key }
}

function isSet(argument: unknown): boolean {
  return argument === '1' || argument === 'true'
}

function mediaTypeRefusal(detail: string): BatchRefusal {
  return { code: 'MEDIA_TYPE_UNSUPPORTED', members: { detail } }
}
