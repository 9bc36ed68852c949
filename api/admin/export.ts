/** `GET /export`: readings of devices as CSV, NDJSON or Parquet. */

import { Readable } from 'node:stream'
import { setImmediate as turn } from 'node:timers/promises'
import type { FastifyReply } from 'fastify'
import { z } from 'zod'
import type { WriteLateAudit } from '../../auth/audit.ts'
import type { Device } from '../../auth/devices/device.ts'
import type { Devices } from '../../auth/devices/devices.ts'
import { customMetricsOf, type DeviceMetrics } from '../../auth/metrics/device-metrics.ts'
import type { Metrics } from '../../auth/metrics/metrics.ts'
import { type ExportFormat, exportFormats } from '../../query/export/export-queries.ts'
import type { ExportFailure, ExportRequest, ReadingsExport } from '../../query/export/readings-export.ts'
import { builtInMetrics, noSeries, seriesTable } from '../../query/export/series-table.ts'
import type { Log } from '../../store/log.ts'
import { readTimeText, timeTextForm, timeUsMax } from '../../store/time-text.ts'
import { devicesMax, readDevices } from '../http/parameters.ts'
import { attachmentOf } from '../http/response-headers.ts'
import { disconnectSignalOf, sendPieces } from '../http/streamed-response.ts'
import { type AdminOperation, type OperationInput, operation } from './operation.ts'
import { type AdminErrorCode, sendProblem, sendQuestdbAway } from './problem.ts'

export type ExportRegistry = DeviceMetrics & Pick<Metrics, 'all'>

/** Each custom metric adds a column to each row. */
const customMax = 500
/** A group takes some milliseconds of the main thread. */
const devicesPerTurn = 2000

/** Custom metrics of these devices by position; undefined if they exceed the limit of one export. */
async function contentOf(
  devices: readonly Device[],
  registry: ExportRegistry,
): Promise<Pick<ExportRequest, 'metrics' | 'series'> | undefined> {
  const ids = new Set<number>()
  const series: number[] = []
  for (const [index, device] of devices.entries()) {
    for (const metric of customMetricsOf(registry, device)) {
      ids.add(metric.id)
      series.push(registry.series(device.number, metric) ?? noSeries, device.number, metric.id)
    }
    if (index % devicesPerTurn === devicesPerTurn - 1) await turn()
  }
  if (ids.size > customMax) return undefined
  const custom = registry.all().filter(({ id }) => ids.has(id))
  const metrics = [...builtInMetrics, ...custom]
  const places = new Map(custom.map(({ id }, index) => [id, builtInMetrics.length + index]))
  const entries = series.map((number, index) => (index % 3 === 2 ? (places.get(number) as number) : number))
  return { metrics, series: seriesTable(entries) }
}

export interface ExportOptions {
  readingsExport: ReadingsExport
  devices: Pick<Devices, 'get' | 'all'>
  metrics: ExportRegistry
  nowMs: () => number
  /** Readings may be this far ahead of the clock. */
  aheadMsMax: number
  audit: WriteLateAudit
  log: Log
  /** A client may stall a response for this long. */
  stalledMsMax?: number
}

/** Clients write the year 9999 for an open end. */
const time = z
  .string()
  .transform((text, context) => {
    const timeUs = readTimeText(text)
    if (timeUs === undefined) context.addIssue('must be an ISO 8601 time, as 2026-01-31 or 2026-01-31T12:00:00Z')
    return Math.min(Math.max(timeUs ?? 0, 0), timeUsMax)
  })
  .meta({ pattern: timeTextForm, description: 'ISO 8601' })

/** One text with commas, or several texts. */
const names = z.union([z.string(), z.array(z.string())]).meta({
  anyOf: undefined,
  type: 'array',
  items: { type: 'string', minLength: 1 },
  minItems: 1,
  maxItems: devicesMax,
})

const ExportQuery = z.strictObject({
  devices: names.optional(),
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

export function exportOperation(options: ExportOptions): AdminOperation {
  const { readingsExport, devices, metrics, nowMs, aheadMsMax, audit, log, stalledMsMax } = options

  async function send(
    { query, actor, request }: OperationInput<undefined, ExportQuery>,
    reply: FastifyReply,
  ): Promise<FastifyReply> {
    // HTTP 1.0 marks the end of an answer by the end of the connection, so an interrupted export would look complete.
    if (request.raw.httpVersion === '1.0') return sendProblem(reply, 'HTTP_VERSION')
    const asked = await requestOf(query)
    if (asked === 'DEVICES_INVALID') {
      return sendProblem(reply, 'QUERY_INVALID', { detail: `devices must name 1 to ${devicesMax} devices` })
    }
    if (asked === 'DEVICE_UNKNOWN') return sendProblem(reply, 'DEVICE_UNKNOWN')
    if (asked === 'TOO_MANY_METRICS') {
      const detail = `an export has at most ${customMax} metrics besides the built-in ones; name fewer devices`
      return sendProblem(reply, 'QUERY_INVALID', { detail })
    }
    const { format } = query
    reply.header('content-type', mediaTypes[format])
    reply.header('content-disposition', attachmentOf({ ...asked, subject: subjectOf(asked), extension: format }))
    if (request.method === 'HEAD') return reply.send(Readable.from([]))
    const answer = await readingsExport.pieces(asked, disconnectSignalOf(reply))
    if (!answer.ok) return refuse(reply, answer.code)
    // The audit keeps the arguments as they were sent.
    const details = { ...(request.query as Record<string, unknown>) }
    await audit({ actor, action: 'readings.export', subject: 'readings', details })
    return sendPieces(reply, answer.pieces, {
      ...(stalledMsMax === undefined ? {} : { stalledMsMax }),
      onFailed: error => log.warn({ err: error }, 'readings export failed, response cut off'),
    })
  }

  async function requestOf(query: ExportQuery): Promise<ExportRequest | RequestFault> {
    const { format, from: fromUs = 0, to: toUs = (nowMs() + aheadMsMax) * 1000 + 1 } = query
    const range = { layout: format, fromUs, toUs: Math.max(fromUs, toUs) }
    const read = query.devices === undefined ? undefined : readDevices(query.devices, name => devices.get(name))
    if (read !== undefined && !read.ok) return read.code
    const asked = read?.devices ?? devices.all()
    const content = await contentOf(asked, metrics)
    if (content === undefined) return 'TOO_MANY_METRICS'
    return { ...range, ...content, devices: asked, isNarrowed: read !== undefined }
  }

  return operation({
    method: 'GET',
    path: '/export',
    name: 'admin_export_readings',
    summary: 'Export readings',
    parameters: { query: ExportQuery },
    success: {
      status: 200,
      description: 'The readings, as an import takes them',
      text: ['text/csv', 'application/x-ndjson'],
      bytes: ['application/vnd.apache.parquet'],
    },
    refusals: ['DEVICE_UNKNOWN', 'TOO_BUSY', 'CLOSING', 'HTTP_VERSION'],
    handle: send,
  })
}

function subjectOf({ devices: [first, ...others], isNarrowed }: ExportRequest): string {
  return isNarrowed && first !== undefined && others.length === 0 ? first.name : 'readings'
}

type RequestFault = 'DEVICES_INVALID' | 'DEVICE_UNKNOWN' | 'TOO_MANY_METRICS'

const errors = {
  DATABASE_AWAY: ['DATABASE_AWAY', 'QuestDB does not answer'],
  TIMED_OUT: ['DATABASE_AWAY', 'QuestDB does not answer in time'],
  QUEUE_FULL: ['TOO_BUSY', 'too many exports at a time'],
  CLOSING: ['CLOSING', undefined],
  INCOMPLETE: ['DATABASE_AWAY', 'QuestDB did not return all readings'],
  // There are more readings with one time than devices.
  TOO_LARGE: ['DATABASE_AWAY', 'QuestDB returned impossibly many readings'],
  // The client has disconnected.
  CANCELLED: ['DATABASE_AWAY', undefined],
  DATE_INVALID: ['QUERY_INVALID', undefined],
} as const satisfies Record<ExportFailure, readonly [AdminErrorCode, string | undefined]>

function refuse(reply: FastifyReply, failure: ExportFailure): FastifyReply {
  reply.removeHeader('content-disposition')
  if (failure === 'DATABASE_AWAY') return sendQuestdbAway(reply)
  const [code, detail] = errors[failure]
  return sendProblem(reply, code, { detail })
}
