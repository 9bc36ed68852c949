/** `GET /api/admin/export`: stored readings, as an import takes them. */

import { Readable } from 'node:stream'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { Devices } from '../../auth/devices/devices.ts'
import { readTimeText, timeUsMax } from '../../ingest/formats/time-text.ts'
import { type ExportFormat, exportFormats } from '../../query/export/export-queries.ts'
import type { ExportFailure, ExportRequest, ReadingsExport } from '../../query/export/readings-export.ts'
import type { Log } from '../../store/log.ts'
import { devicesMax, readDevices } from '../http/devices-parameter.ts'
import { disconnectSignalOf } from '../http/disconnect-signal.ts'
import { sendPieces } from '../http/stalled-response.ts'
import type { AdminErrorCode } from './errors.ts'
import { actorIn } from './guard.ts'
import type { WriteLateAudit } from './late-audit.ts'
import { addPath } from './paths.ts'
import { sendInvalid, sendProblem } from './problem.ts'

export interface ExportOptions {
  readingsExport: ReadingsExport
  devices: Pick<Devices, 'get' | 'all'>
  nowMs: () => number
  /** How far the time of a reading may lie ahead. */
  aheadMsMax: number
  audit: WriteLateAudit
  log: Log
  /** How long a client may take nothing of a response. */
  stalledMsMax?: number
}

/** Of a range without end people write the year 9999. */
const time = z.string().transform((text, context) => {
  const timeUs = readTimeText(text)
  if (timeUs === undefined) context.addIssue('must be an ISO 8601 time, as 2026-01-31 or 2026-01-31T12:00:00Z')
  return Math.min(Math.max(timeUs ?? 0, 0), timeUsMax)
})

const ExportQuery = z.strictObject({
  devices: z.union([z.string(), z.array(z.string())]).optional(),
  from: time.optional(),
  to: time.optional(),
  format: z.enum(exportFormats, `must be one of ${exportFormats.join(', ')}`).default('csv'),
})
type ExportQuery = z.infer<typeof ExportQuery>

const mediaTypes: Record<ExportFormat, string> = {
  csv: 'text/csv; charset=utf-8',
  ndjson: 'application/x-ndjson',
  parquet: 'application/vnd.apache.parquet',
}

export function registerExport(scope: FastifyInstance, options: ExportOptions): void {
  const { readingsExport, devices, nowMs, aheadMsMax, audit, log, stalledMsMax } = options

  async function send(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const query = ExportQuery.safeParse(request.query)
    if (!query.success) return sendInvalid(reply, 'QUERY_INVALID', query.error)
    // Before HTTP 1.1 the end of the connection ends an answer, so one that breaks off would look complete.
    if (request.raw.httpVersion === '1.0') return sendProblem(reply, 'HTTP_VERSION')
    const asked = requestOf(query.data)
    if (asked === 'DEVICES_INVALID') {
      return sendProblem(reply, 'QUERY_INVALID', { detail: `devices must name 1 to ${devicesMax} devices` })
    }
    if (asked === 'DEVICE_UNKNOWN') return sendProblem(reply, 'DEVICE_UNKNOWN')
    const { format } = query.data
    reply.header('content-type', mediaTypes[format])
    reply.header('content-disposition', `attachment; filename="readings.${format}"`)
    if (request.method === 'HEAD') return reply.send(Readable.from([]))
    const answer = await readingsExport.pieces(asked, disconnectSignalOf(reply))
    if (!answer.ok) return refuse(reply, answer.code)
    await audit({
      actor: actorIn(request),
      action: 'readings.export',
      subject: 'readings',
      details: detailsOf(request),
    })
    return sendPieces(reply, answer.pieces, {
      ...(stalledMsMax === undefined ? {} : { stalledMsMax }),
      onFailed: error => log.warn({ err: error }, 'readings export failed, response cut off'),
    })
  }

  function requestOf(query: ExportQuery): ExportRequest | 'DEVICES_INVALID' | 'DEVICE_UNKNOWN' {
    const { format, from: fromUs = 0, to: toUs = (nowMs() + aheadMsMax) * 1000 + 1 } = query
    const range = { layout: format, fromUs, toUs: Math.max(fromUs, toUs) }
    if (query.devices === undefined) return { ...range, devices: devices.all(), isNarrowed: false }
    const read = readDevices(query.devices, name => devices.get(name))
    return read.ok ? { ...range, devices: read.devices, isNarrowed: true } : read.code
  }

  addPath(scope, '/export', { GET: send })
}

/** What was asked for. */
function detailsOf({ query }: FastifyRequest): Record<string, unknown> {
  return { ...(query as Record<string, unknown>) }
}

const errors = {
  DATABASE_AWAY: ['DATABASE_AWAY', 'QuestDB does not answer'],
  TIMED_OUT: ['DATABASE_AWAY', 'QuestDB does not answer in time'],
  QUEUE_FULL: ['TOO_BUSY', 'too many exports at a time'],
  CLOSING: ['CLOSING', undefined],
  INCOMPLETE: ['DATABASE_AWAY', 'QuestDB has not given all readings'],
  // More readings of one time than there can be devices.
  TOO_LARGE: ['DATABASE_AWAY', 'QuestDB has given more readings than there can be'],
  // Nobody reads it.
  CANCELLED: ['DATABASE_AWAY', undefined],
  DATE_INVALID: ['QUERY_INVALID', undefined],
} as const satisfies Record<ExportFailure, readonly [AdminErrorCode, string | undefined]>

function refuse(reply: FastifyReply, failure: ExportFailure): FastifyReply {
  reply.removeHeader('content-disposition')
  const [code, detail] = errors[failure]
  return sendProblem(reply, code, { detail })
}
