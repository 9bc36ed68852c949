/** `GET /api/readings/<device>`: the readings of a range, or their figures by buckets of time, streamed. */

import { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Device } from '../../auth/devices/device.ts'
import type { DeviceMetrics } from '../../auth/metrics/device-metrics.ts'
import type { ExportFailure, ReadingsExport } from '../../query/export/readings-export.ts'
import type { Log } from '../../store/log.ts'
import { acceptedForms } from '../http/accept-encoding.ts'
import { disconnectSignalOf } from '../http/disconnect-signal.ts'
import type { OperationGroup } from '../http/register-operations.ts'
import { sendPieces, streamFormOf } from '../http/stalled-response.ts'
import type { LoggerErrorCode } from '../http/status-errors.ts'
import type { ReadOperation } from '../http/status-operations.ts'
import { createStreamSlots } from '../http/stream-slots.ts'
import { chooseMetrics } from './metrics-parameter.ts'
import type { ReadAccess } from './read-access.ts'
import { refuse } from './read-answers.ts'
import { DevicePath, ofReads, readGroup, readOperation } from './read-operation.ts'
import { deviceInPath } from './read-subjects.ts'
import { RangeParameters, readReadingsParameters } from './readings-parameters.ts'
import { RangeReadings } from './readings-shape.ts'

export interface ReadingsOptions {
  rangeReads: Pick<ReadingsExport, 'pieces'>
  metrics: DeviceMetrics
  nowMs: () => number
  /** Readings before this moment have expired. */
  expiredBeforeUs: () => number
  log: Log
}

/** Each holds two pieces of some 2 MB in memory. */
const slotsMax = 16
const slotsOfOneMax = 8

type ReadingsRequest = FastifyRequest<{ Querystring: Record<string, unknown> }>

export function readingsGroup(access: ReadAccess, options: ReadingsOptions): OperationGroup<ReadOperation> {
  const { rangeReads, metrics, nowMs, expiredBeforeUs, log } = options
  const slots = createStreamSlots({ slotsMax, slotsOfOneMax, nowMs: () => performance.now() })

  async function send(device: Device, request: ReadingsRequest, reply: FastifyReply): Promise<FastifyReply> {
    const { headers } = request
    const parameters = readReadingsParameters(request.query, headers.accept, nowMs() * 1000)
    if (!parameters.ok) return refuse(reply, 'PARAMETER_INVALID', parameters.status)
    const content = chooseMetrics(request.query['metrics'], device, metrics)
    if (!content.ok) return refuse(reply, 'PARAMETER_INVALID', content.status)
    // Before HTTP 1.1 the end of the connection ends an answer, so one that breaks off would look complete.
    if (request.raw.httpVersion === '1.0') return refuse(reply, 'HTTP_VERSION')
    const { format, fromUs, toUs, stepUs } = parameters.asked
    if (request.method === 'HEAD') return describe(reply, format).send(Readable.from([]))
    const slot = slots.take(reply.raw, { address: request.ip, credential: access.credentialOf(request) })
    if (typeof slot === 'string') return refuse(reply, 'QUEUE_FULL')
    const from = Math.min(Math.max(fromUs, expiredBeforeUs()), toUs)
    const range = { layout: format.layout, fromUs: from, toUs, stepUs, devices: [device], isNarrowed: true }
    const asked = { ...range, ...content.chosen }
    const answer = await rangeReads.pieces(asked, disconnectSignalOf(reply))
    if (!answer.ok) return refuse(reply, codeOf(answer.code))
    return sendPieces(describe(reply, format), answer.pieces, {
      // Parquet has a compression of its own.
      form: format.layout === 'parquet' ? 'identity' : streamFormOf(acceptedForms(headers['accept-encoding'])),
      onWait: slot.wait,
      onFailed: error => log.warn({ err: error }, 'read of a range failed, response cut off'),
    })
  }

  const read = readOperation(access, {
    path: '/readings/:device',
    name: 'read_range',
    summary: 'The readings of a range',
    description: 'Streamed, oldest first. An error in the middle breaks the connection.',
    subject: deviceInPath('device'),
    parameters: { path: DevicePath, query: RangeParameters },
    success: {
      status: 200,
      description: 'The readings, or their figures by buckets',
      json: RangeReadings,
      text: ['application/x-ndjson', 'text/csv'],
      bytes: ['application/vnd.apache.parquet'],
    },
    refusals: [...ofReads, 'DEVICE_UNKNOWN', 'HTTP_VERSION'],
    handle: send,
  })
  return readGroup(read)
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
