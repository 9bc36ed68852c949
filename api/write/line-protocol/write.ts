/** `POST /write` and `POST /api/v2/write`: points in line protocol. Acknowledged bodies are on disk as a whole. */

import type { FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { Device } from '../../../auth/devices/device.ts'
import type { Devices } from '../../../auth/devices/devices.ts'
import type { BulkFields } from '../../../auth/metrics/device-fields.ts'
import type { CredentialWriter } from '../../../auth/writers.ts'
import type { Precision } from '../../../ingest/formats/line-protocol-text.ts'
import type { LineBody, LineImport, LineImporter } from '../../../ingest/import/line-protocol-import.ts'
import type { FairShare } from '../../../ingest/intake/rates.ts'
import { sourceOf } from '../../../ingest/intake/rejection-source.ts'
import { setRetryAfter } from '../../http/errors.ts'
import type { BulkMeter, BulkSource } from '../bulk-meter.ts'
import { createFieldResolver, createFindKnown, resolveDevices } from '../resolve-devices.ts'
import { createSender } from '../sender.ts'
import type { Bodies } from './body.ts'
import {
  ErrorOfVersion,
  errorsOf,
  type LineProtocolErrorCode,
  lineProtocolErrors,
  type SendError,
  sendError,
  textOf,
  type Version,
} from './errors.ts'
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

export const writeRefusals: readonly LineProtocolErrorCode[] = [
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
]

const codeNames: Record<string, string> = { '': 'default', µ: 'micro' }

/** Other arguments, such as `bucket` and `db`, are ignored. */
function queryOf(version: Version) {
  const names = [...precisions[version].keys()].filter(name => typeof name === 'string')
  const description = 'Unit of the timestamps; nanoseconds by default.'
  // Some generators keep only the ASCII characters of names.
  const varnames = names.map(name => codeNames[name] ?? name)
  return z.object({
    precision: z.enum(names).optional().meta({ description, 'x-enum-varnames': varnames }),
  })
}

/** The protocol of a body: its head, its answers and its errors. */
export interface Protocol {
  /** The format of the body, or the reason of a refusal before it is read. */
  readHead(request: FastifyRequest): BodyHead | { code: LineProtocolErrorCode; message?: string }
  answer(reply: FastifyReply, result: StoredLines): FastifyReply
  sendError: SendError
  sourceOf(request: FastifyRequest): BulkSource
  /** Begins the reasons of its rejections. */
  family?: string
}

const partsReason = 'prometheus: series with the labels le or quantile are parts of a histogram or a summary'

type BodyHead = Pick<LineBody, 'isGzip' | 'precision' | 'form'>
export type StoredLines = Extract<LineImport, { kind: 'stored' }>

export function writeOperation(
  version: Version,
  path: string,
  importer: Pick<LineImporter, 'run'>,
  bodies: Bodies,
  options: WriteOptions,
): LineProtocolOperation {
  const write = createWrite(lineProtocolOf(version), importer, bodies, options)
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
    refusals: writeRefusals,
    error: ErrorOfVersion[version],
    onRefused: (request, code) => options.meter.refused(sourceOfBody(request), textOf(code)),
    handle: (request, reply, writer) => write(request, reply, writer()),
  }
}

function sourceOfBody(request: FastifyRequest): BulkSource {
  const way = 'line_protocol'
  return { ...sourceOf(way, knownWriter(request), request.ip), way }
}

function lineProtocolOf(version: Version): Protocol {
  return {
    readHead({ query, headers }) {
      const precision = precisions[version].get((query as Record<string, unknown>)['precision'])
      if (precision === undefined) return { code: 'INVALID', message: precisionReason[version] }
      const coding = codings.get((headers['content-encoding'] ?? 'identity').trim().toLowerCase())
      if (coding !== undefined) return { ...coding, precision }
      return { code: 'MEDIA_TYPE_UNSUPPORTED', message: 'the content coding must be gzip or identity' }
    },
    answer: (reply, result) => answer(reply, version, result),
    sendError: errorsOf(version),
    sourceOf: sourceOfBody,
  }
}

export function createWrite(
  { readHead, answer, sendError, sourceOf, family }: Protocol,
  importer: Pick<LineImporter, 'run'>,
  bodies: Bodies,
  { devices, bulkFields, nowMs, meter, fairShare }: WriteOptions,
): (request: FastifyRequest, reply: FastifyReply, writer: CredentialWriter) => Promise<FastifyReply> {
  const ofFamily = (reason: string) => (family === undefined ? reason : `${family}: ${reason}`)

  async function store(
    reply: FastifyReply,
    writer: CredentialWriter,
    body: BodyHead & Pick<LineBody, 'bytes'>,
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
    const source = sourceOf(reply.request)
    if (result.kind !== 'stored') {
      const code = failures[result.kind]
      const message = 'reason' in result ? `${lineProtocolErrors[code].text}: ${result.reason}` : undefined
      meter.refused(source, ofFamily(message ?? textOf(code)))
      return sendError(reply, code, message)
    }
    const { readings, rejected, leftOut, partsIgnored } = result
    const assumed = partsIgnored === 0 ? result.assumed : { rejected: partsIgnored, rejects: [{ reason: partsReason }] }
    const rejects = result.rejects.map(reject => ({ ...reject, reason: ofFamily(reject.reason) }))
    meter.taken(source, readings, { rejected, rejects, leftOut, assumed })
    const seenMs = nowMs()
    for (const device of result.devices) devices.seen(device, seenMs)
    return answer(reply, result)
  }

  /** The body stays unread, so the connection cannot be used again. */
  function refuseUnread(reply: FastifyReply, code: LineProtocolErrorCode, message?: string): FastifyReply {
    meter.refused(sourceOf(reply.request), ofFamily(message ?? textOf(code)))
    return sendError(reply.header('connection', 'close'), code, message)
  }

  return async (request, reply, writer) => {
    const head = readHead(request)
    if ('code' in head) return refuseUnread(reply, head.code, head.message)
    const waitSeconds = fairShare.waitSeconds(writer.id)
    if (waitSeconds !== undefined) {
      return refuseUnread(setRetryAfter(reply, waitSeconds), 'TOO_MANY_READINGS')
    }
    const body = await bodies.read(request.raw, writer.id)
    if (body.kind !== 'body') return refuseUnread(reply, refusals[body.kind])
    try {
      return await store(reply, writer, { ...head, bytes: body.bytes })
    } finally {
      body.release()
    }
  }
}

function answer(reply: FastifyReply, version: Version, result: StoredLines): FastifyReply {
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
