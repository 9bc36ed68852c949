/** Streams the readings of a range of a device or a station, or their figures by buckets of time. */

import { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { ExportFailure, ExportRequest, ReadingsExport } from '../../query/export/readings-export.ts'
import type { Log } from '../../store/log.ts'
import { attachmentOf } from '../http/response-headers.ts'
import { acceptedForms } from '../http/send-body.ts'
import type { LoggerErrorCode } from '../http/status-operations.ts'
import { createStreamSlots, disconnectSignalOf, sendPieces, streamFormOf } from '../http/streamed-response.ts'
import type { ReadAccess } from './read-access.ts'
import { refuse } from './read-access.ts'
import { type ReadingsParameters, readReadingsParameters } from './readings-parameters.ts'

export interface RangeSenderOptions {
  rangeReads: Pick<ReadingsExport, 'pieces'>
  nowMs: () => number
  log: Log
}

export type RangeRequest = FastifyRequest<{ Querystring: Record<string, unknown> }>

/** Content of a range, or the reason of a refusal. */
export type RangeContent =
  | { readonly ok: true; readonly content: Content }
  | { readonly ok: false; readonly code: LoggerErrorCode; readonly text?: string }

interface Content extends Pick<ExportRequest, 'fromUs' | 'toUs' | 'devices' | 'metrics' | 'series' | 'station'> {
  /** Additional headers of the answer. */
  readonly headers?: Readonly<Record<string, string>>
}

export type SendRange = (
  request: RangeRequest,
  reply: FastifyReply,
  contentOf: (asked: ReadingsParameters, client: AbortSignal) => RangeContent | Promise<RangeContent>,
) => Promise<FastifyReply>

/** Each holds two pieces of at most 5 MB in memory, and of 1 MB where all are taken. */
const slotsMax = 16
const slotsOfOneMax = 8

export function createRangeSender(access: ReadAccess, { rangeReads, nowMs, log }: RangeSenderOptions): SendRange {
  const slots = createStreamSlots({ slotsMax, slotsOfOneMax, nowMs: () => performance.now() })

  return async (request, reply, contentOf) => {
    const { headers } = request
    const parameters = readReadingsParameters(request.query, headers.accept, nowMs() * 1000)
    if (!parameters.ok) return refuse(reply, 'PARAMETER_INVALID', parameters.status)
    const { format, stepUs } = parameters.asked
    const client = disconnectSignalOf(reply)
    const found = await contentOf(parameters.asked, client)
    if (!found.ok) return refuse(reply, found.code, found.text)
    // HTTP 1.0 marks the end of an answer by the end of the connection, so an interrupted one would look complete.
    if (request.raw.httpVersion === '1.0') return refuse(reply, 'HTTP_VERSION')
    const { headers: more = {}, ...content } = found.content
    if (request.method === 'HEAD') return describe(reply.headers(more), format, content).send(Readable.from([]))
    const slot = slots.take(reply.raw, { address: request.ip, credential: access.credentialOf(request) })
    if (typeof slot === 'string') return refuse(reply, 'QUEUE_FULL')
    const asked = { ...content, layout: format.layout, stepUs, isNarrowed: true }
    const answer = await rangeReads.pieces(asked, client)
    if (!answer.ok) return refuse(reply, codeOf(answer.code))
    return sendPieces(describe(reply.headers(more), format, content), answer.pieces, {
      // Parquet has its own compression.
      form: format.layout === 'parquet' ? 'identity' : streamFormOf(acceptedForms(headers['accept-encoding'])),
      onWait: slot.wait,
      onFailed: error => log.warn({ err: error }, 'read of a range failed, response cut off'),
    })
  }
}

type Described = Pick<Content, 'devices' | 'fromUs' | 'toUs'>

function describe(
  reply: FastifyReply,
  { mediaType, extension }: ReadingsParameters['format'],
  { devices, fromUs, toUs }: Described,
): FastifyReply {
  reply.header('content-type', mediaType).header('vary', 'accept, accept-encoding')
  reply.header('cache-control', 'no-cache')
  if (extension !== undefined) {
    const [{ name: subject } = { name: 'readings' }] = devices
    reply.header('content-disposition', attachmentOf({ subject, fromUs, toUs, extension }))
  }
  return reply
}

/** Missing readings in QuestDB's response count as an unavailable database. */
function codeOf(failure: ExportFailure): LoggerErrorCode {
  return failure === 'INCOMPLETE' ? 'DATABASE_AWAY' : failure
}
