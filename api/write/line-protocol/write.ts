/** `POST /write` and `POST /api/v2/write`: points in line protocol. Acknowledged bodies are on disk as a whole. */

import type { FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { Device } from '../../../auth/devices/device.ts'
import type { Devices } from '../../../auth/devices/devices.ts'
import type { BulkFields } from '../../../auth/metrics/bulk-fields.ts'
import type { CredentialWriter } from '../../../auth/writers.ts'
import type { Precision } from '../../../ingest/formats/line-protocol-time.ts'
import type { LineBody, LineImport, LineImporter } from '../../../ingest/import/line-protocol-import.ts'
import type { FairShare } from '../../../ingest/intake/fair-share.ts'
import { sourceOf } from '../../../ingest/intake/rejection-source.ts'
import { setRetryAfter } from '../../http/errors.ts'
import type { BulkMeter, BulkSource } from '../bulk-meter.ts'
import { createFindKnown, resolveDevices } from '../resolve-devices.ts'
import { createFieldResolver } from '../resolve-fields.ts'
import { createSender } from '../sender.ts'
import type { Bodies } from './body.ts'
import { ErrorOfVersion, type LineProtocolErrorCode, sendError, textOf, type Version } from './errors.ts'
import { knownWriter, type LineProtocolOperation } from './operation.ts'

export interface WriteOptions {
  devices: Pick<Devices, 'seen'>
  bulkFields: BulkFields
  nowMs: () => number
  meter: BulkMeter
  fairShare: FairShare
}

/** Names of timestamp units in each version; nanoseconds by default. */
const precisions: Record<Version, ReadonlyMap<unknown, Precision>> = {
  1: new Map([
    [undefined, 'ns'],
    ['', 'ns'],
    ['n', 'ns'],
    ['ns', 'ns'],
    ['u', 'us'],
    ['us', 'us'],
    ['µ', 'us'],
    ['ms', 'ms'],
    ['s', 's'],
    ['m', 'm'],
    ['h', 'h'],
  ]),
  2: new Map([
    [undefined, 'ns'],
    ['ns', 'ns'],
    ['us', 'us'],
    ['ms', 'ms'],
    ['s', 's'],
  ]),
}
const precisionReason: Record<Version, string> = {
  1: 'invalid precision (use n, u, ms, s, m or h)',
  2: 'invalid precision; valid precision units are ns, us, ms, and s',
}

const codings = new Map([
  ['identity', { isGzip: false }],
  ['gzip', { isGzip: true }],
  ['x-gzip', { isGzip: true }],
])

const refusals = { 'too large': 'BODY_TOO_LARGE', 'too many': 'TOO_MANY_BODIES' } as const

const failures = {
  UNAUTHENTICATED: 'UNAUTHORIZED',
  FORBIDDEN: 'FORBIDDEN',
  'too long': 'BODY_TOO_LARGE',
  broken: 'BODY_BROKEN',
  later: 'DATABASE_AWAY',
  full: 'STORAGE_FULL',
  closing: 'CLOSING',
  unknown: 'STORAGE_FAILED',
} as const satisfies Record<Exclude<LineImport['kind'], 'stored'>, LineProtocolErrorCode>

const codeNames: Record<string, string> = { '': 'default', µ: 'micro' }

/** Other arguments, such as `bucket` and `db`, are ignored. */
function queryOf(version: Version) {
  const names = [...precisions[version].keys()].filter(name => typeof name === 'string')
  const description = 'Unit of the timestamps; nanoseconds by default.'
  // For generators that keep only the ASCII characters of names.
  const varnames = names.map(name => codeNames[name] ?? name)
  return z.object({
    precision: z.enum(names).optional().meta({ description, 'x-enum-varnames': varnames }),
  })
}

export function writeOperation(
  version: Version,
  path: string,
  importer: Pick<LineImporter, 'run'>,
  bodies: Bodies,
  options: WriteOptions,
): LineProtocolOperation {
  const write = createWrite(version, importer, bodies, options)
  return {
    method: 'POST',
    path,
    name: `write_v${version}`,
    summary: `Store points, as InfluxDB ${version}.x`,
    description:
      'Answered when all of them are on disk. A partial write is a 400 that names the lines that are not stored.',
    credentials: ['influxToken', 'device', 'bearerKey'],
    parameters: { query: queryOf(version) },
    // Version 1 accepts a body without points.
    body: { text: ['text/plain'], isOptional: version === 1 },
    success: { status: 204, description: 'All points are on disk' },
    refusals: [
      'INVALID',
      'BODY_BROKEN',
      'UNAUTHORIZED',
      'FORBIDDEN',
      'TIMEOUT',
      'BODY_TOO_LARGE',
      'MEDIA_TYPE_UNSUPPORTED',
      'TOO_MANY_ATTEMPTS',
      'TOO_MANY_READINGS',
      'STORAGE_FAILED',
      'TOO_MANY_BODIES',
      'DATABASE_AWAY',
      'STORAGE_FULL',
      'CLOSING',
    ],
    error: ErrorOfVersion[version],
    onRefused: (request, code) => options.meter.refused(sourceOfBody(request), textOf(code)),
    handle: (request, reply, writer) => write(request, reply, writer()),
  }
}

function sourceOfBody(request: FastifyRequest): BulkSource {
  const way = 'line_protocol'
  return { ...sourceOf(way, knownWriter(request), request.ip), way }
}

function createWrite(
  version: Version,
  importer: Pick<LineImporter, 'run'>,
  bodies: Bodies,
  { devices, bulkFields, nowMs, meter, fairShare }: WriteOptions,
): (request: FastifyRequest, reply: FastifyReply, writer: CredentialWriter) => Promise<FastifyReply> {
  async function store(
    reply: FastifyReply,
    writer: CredentialWriter,
    body: Pick<LineBody, 'bytes' | 'isGzip' | 'precision'>,
  ): Promise<FastifyReply> {
    const sender = createSender(writer)
    const result = await importer.run({
      ...body,
      deviceDefault: writer.device?.name,
      resolve: names => resolveDevices(names, sender.writer()),
      known: createFindKnown(sender.writer),
      fields: createFieldResolver(bulkFields, sender),
      // The registry has resolved these.
      refusal: devices => sender.refusal(devices as readonly Device[]),
    })
    fairShare.charge(writer.id, result.kind === 'stored' ? result.points : 0, result.bytes)
    const source = sourceOfBody(reply.request)
    if (result.kind !== 'stored') {
      const code = failures[result.kind]
      meter.refused(source, textOf(code))
      return sendError(reply, version, code)
    }
    meter.taken(source, result.readings, result)
    const seenMs = nowMs()
    for (const device of result.devices) devices.seen(device, seenMs)
    return answer(reply, version, result)
  }

  /** The body stays unread, so the connection cannot be used again. */
  function refuseUnread(reply: FastifyReply, code: LineProtocolErrorCode, message?: string): FastifyReply {
    meter.refused(sourceOfBody(reply.request), message ?? textOf(code))
    return sendError(reply.header('connection', 'close'), version, code, message)
  }

  return async (request, reply, writer) => {
    const precision = precisions[version].get((request.query as Record<string, unknown>)['precision'])
    if (precision === undefined) return refuseUnread(reply, 'INVALID', precisionReason[version])
    const coding = codings.get((request.headers['content-encoding'] ?? 'identity').trim().toLowerCase())
    if (coding === undefined) {
      return refuseUnread(reply, 'MEDIA_TYPE_UNSUPPORTED', 'the content coding must be gzip or identity')
    }
    const waitSeconds = fairShare.waitSeconds(writer.id)
    if (waitSeconds !== undefined) {
      return refuseUnread(setRetryAfter(reply, waitSeconds), 'TOO_MANY_READINGS')
    }
    const body = await bodies.read(request.raw, writer.id)
    if (body.kind !== 'body') return refuseUnread(reply, refusals[body.kind])
    try {
      return await store(reply, writer, { ...coding, bytes: body.bytes, precision })
    } finally {
      body.release()
    }
  }
}

function answer(reply: FastifyReply, version: Version, result: Extract<LineImport, { kind: 'stored' }>): FastifyReply {
  const { points, rejected, rejects } = result
  // Both versions of InfluxDB do the same.
  if (points === 0 && version === 2) return sendError(reply, version, 'INVALID', 'writing requires points')
  if (rejected === 0) return reply.code(204).send()
  const reasons = rejects.map(({ line, device, reason }) => {
    return `line ${line}: ${device === undefined ? '' : `device ${device}: `}${reason}`
  })
  const more = rejected > rejects.length ? '; …' : ''
  return sendError(reply, version, 'INVALID', `partial write: ${reasons.join('; ')}${more} dropped=${rejected}`)
}
