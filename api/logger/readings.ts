/** `GET /api/readings/<device>`: the readings of a range, or their figures by buckets of time, streamed. */

import { Readable } from 'node:stream'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Devices } from '../../auth/devices/devices.ts'
import type { ExportFailure, ReadingsExport } from '../../query/export/readings-export.ts'
import type { Log } from '../../store/log.ts'
import { acceptedForms } from '../http/accept-encoding.ts'
import { addCorsHeaders } from '../http/cors.ts'
import { leavingOf } from '../http/leaving.ts'
import { sendPieces, streamFormOf } from '../http/stalled-response.ts'
import { createStreamSlots } from '../http/stream-slots.ts'
import type { LoggerErrorCode } from './errors.ts'
import { addRead, refuse } from './read-answers.ts'
import { readReadingsParameters } from './readings-parameters.ts'

export interface ReadingsOptions {
  rangeReads: Pick<ReadingsExport, 'pieces'>
  devices: Pick<Devices, 'get'>
  nowMs: () => number
  /** Readings before this moment have expired. */
  expiredBeforeUs: () => number
  log: Log
}

/** Each holds two pieces of some 2 MB in memory. */
const slotsMax = 16
const perAddressMax = 8

type ReadingsRequest = FastifyRequest<{ Params: { device: string }; Querystring: Record<string, unknown> }>

export function registerReadings(app: FastifyInstance, options: ReadingsOptions): void {
  const { rangeReads, devices, nowMs, expiredBeforeUs, log } = options
  const slots = createStreamSlots({ slotsMax, perAddressMax, nowMs: () => performance.now() })

  async function send(request: ReadingsRequest, reply: FastifyReply): Promise<FastifyReply> {
    const device = devices.get(request.params.device)
    if (device === undefined) return refuse(reply, 'DEVICE_UNKNOWN')
    const { headers } = request
    const parameters = readReadingsParameters(request.query, headers.accept, nowMs() * 1000)
    if (!parameters.ok) return refuse(reply, 'PARAMETER_INVALID', parameters.status)
    // Before HTTP 1.1 the end of the connection ends an answer, so one that breaks off would look complete.
    if (request.raw.httpVersion === '1.0') return refuse(reply, 'HTTP_VERSION')
    const { format, fromUs, toUs, stepUs } = parameters.asked
    if (request.method === 'HEAD') return describe(reply, format).send(Readable.from([]))
    const slot = slots.take(reply.raw, request.ip)
    if (slot === undefined) return refuse(reply, 'QUEUE_FULL')
    const from = Math.min(Math.max(fromUs, expiredBeforeUs()), toUs)
    const asked = { layout: format.layout, fromUs: from, toUs, stepUs, devices: [device], isNarrowed: true }
    const answer = await rangeReads.pieces(asked, leavingOf(reply))
    if (!answer.ok) return refuse(reply, codeOf(answer.code))
    return sendPieces(describe(reply, format), answer.pieces, {
      // Parquet has a compression of its own.
      form: format.layout === 'parquet' ? 'identity' : streamFormOf(acceptedForms(headers['accept-encoding'])),
      onWait: slot.wait,
      onFailed: error => log.warn({ err: error }, 'read of a range failed, response cut off'),
    })
  }

  addCorsHeaders(app)
  addRead(app, '/readings/:device', send)
}

function describe(reply: FastifyReply, format: { mediaType: string; fileName?: string }): FastifyReply {
  reply.header('content-type', format.mediaType).header('vary', 'accept, accept-encoding')
  reply.header('cache-control', 'no-cache')
  if (format.fileName !== undefined) {
    reply.header('content-disposition', `attachment; filename="${format.fileName}"`)
  }
  return reply
}

/** That QuestDB gave fewer readings than it has looks to a client as if it did not answer. */
function codeOf(failure: ExportFailure): LoggerErrorCode {
  return failure === 'INCOMPLETE' ? 'DATABASE_AWAY' : failure
}
