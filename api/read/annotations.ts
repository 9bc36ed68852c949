/** `GET /api/device/<device>/annotations`: returns people's annotations of a device as JSON, NDJSON or CSV. */

import type { FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { type Annotation, DeviceAnnotations } from '../../auth/annotations/annotation.ts'
import { type Annotations, annotatorOf } from '../../auth/annotations/annotations.ts'
import type { Device } from '../../auth/devices/device.ts'
import { isPassing } from '../../auth/passing-errors.ts'
import { moment, msOf } from '../../query/analyses/parameters.ts'
import type { FindPrincipal } from '../credentials/find-principal.ts'
import type { OperationGroup } from '../http/route-family.ts'
import type { ReadOperation } from '../http/status-operations.ts'
import type { ReadAccess } from './read-access.ts'
import { refuse } from './read-access.ts'
import { DevicePath, ofReads, readGroup, readOperation } from './read-operation.ts'
import { deviceInPath } from './read-subjects.ts'

export interface AnnotationReadOptions {
  annotations: Pick<Annotations, 'of'>
  findPrincipal: FindPrincipal
}

/** Bounds concurrent queries: PostgreSQL also answers sign-ins. */
const readingMax = 8

const Parameters = z.object({
  start: moment('start', 'Leaves out annotations that end before this moment'),
  end: moment('end', 'Leaves out annotations that begin at this moment or later'),
  format: z.enum(['json', 'ndjson', 'csv'], 'format must be one of json, ndjson, csv').optional(),
})

export function annotationsGroup(
  access: ReadAccess,
  { annotations, findPrincipal }: AnnotationReadOptions,
): OperationGroup<ReadOperation> {
  let reading = 0

  async function read(device: Device, request: FastifyRequest, { start, end }: z.infer<typeof Parameters>) {
    const principal = await findPrincipal(request.raw)
    const rows = await annotations.of(device.number, { fromMs: msOf(start), toMs: msOf(end) })
    // Even with open reads, only identified readers see names of people.
    const isPerson = principal !== undefined && principal.kind !== 'view-link'
    const shown = isPerson ? rows : rows.map(row => ({ ...row, by: null }))
    const annotator = annotatorOf(principal)
    const may = { may_annotate: annotator?.may(device) ?? false, may_annotate_all: annotator?.isOfAll ?? false }
    return { device: device.name, ...may, annotations: shown }
  }

  async function send(device: Device, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const checked = Parameters.safeParse(request.query)
    if (!checked.success) return refuse(reply, 'PARAMETER_INVALID', checked.error.issues[0]?.message)
    if (reading >= readingMax) return refuse(reply, 'QUEUE_FULL')
    reading++
    try {
      const answer = await read(device, request, checked.data)
      const { text, mediaType, fileName } = formats[checked.data.format ?? 'json'](answer)
      reply.header('cache-control', 'private, no-cache').header('vary', 'authorization, cookie, x-api-key')
      if (fileName !== undefined) reply.header('content-disposition', `attachment; filename="${fileName}"`)
      return reply.header('content-type', mediaType).send(text)
    } catch (error) {
      if (isPassing(error)) return refuse(reply, 'DATABASE_AWAY')
      throw error
    } finally {
      reading--
    }
  }

  const operation = readOperation<Device>(access, {
    path: '/device/:name/annotations',
    publishedPath: '/device/{device}/annotations',
    name: 'read_annotations',
    summary: 'The annotations of a device',
    description: 'With the annotations of all devices.',
    subject: deviceInPath('name'),
    parameters: { path: DevicePath, query: Parameters },
    success: {
      status: 200,
      description: 'The annotations, ascending',
      json: DeviceAnnotations.meta({ id: 'DeviceAnnotations' }),
      text: ['application/x-ndjson', 'text/csv'],
    },
    refusals: [...ofReads, 'DEVICE_UNKNOWN'],
    handle: send,
  })
  return readGroup(operation)
}

interface Sent {
  readonly text: string
  readonly mediaType: string
  /** Name for a download. */
  readonly fileName?: string
}

const formats: Record<'json' | 'ndjson' | 'csv', (answer: DeviceAnnotations) => Sent> = {
  json: answer => ({ text: JSON.stringify(answer), mediaType: 'application/json; charset=utf-8' }),
  ndjson: ({ annotations }) => ({
    text: annotations.map(row => `${JSON.stringify(row)}\n`).join(''),
    mediaType: 'application/x-ndjson',
  }),
  csv: ({ annotations }) => ({
    text: [columns, ...annotations.map(cellsOf)].map(cells => `${cells.map(csvCell).join(',')}\r\n`).join(''),
    mediaType: 'text/csv; charset=utf-8',
    fileName: 'annotations.csv',
  }),
}

const columns = ['id', 'device', 'from', 'to', 'text', 'by', 'written_at'] as const

function cellsOf(row: Annotation): string[] {
  return columns.map(column => String(row[column] ?? ''))
}

/**
 * RFC 4180. People write these texts, and a spreadsheet evaluates a cell that begins like a formula: an apostrophe
 * makes it a text. JSON has them unchanged.
 */
function csvCell(given: string): string {
  const text = /^[=+\-@\t\r]/.test(given) ? `'${given}` : given
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
