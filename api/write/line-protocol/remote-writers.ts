/**
 * `POST /api/v1/write`, Prometheus remote write 1.0, and `POST /v1/metrics`, the metrics of OTLP/HTTP. Their samples
 * become lines of line protocol, so the bodies have its rules. The answers are those that the two protocols demand.
 */

import type { FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { createLineImporter } from '../../../ingest/import/line-protocol-import.ts'
import { sourceOf } from '../../../ingest/intake/rejection-source.ts'
import type { KnownMetric } from '../../../ingest/remote/sample-lines.ts'
import { ByteBudget } from '../../../store/limits/capacity.ts'
import { type ErrorTable, setRefusal } from '../../http/errors.ts'
import { mediaTypeOf } from '../../http/request-body.ts'
import { createFamily, type PublishedFamily } from '../../http/route-family.ts'
import type { BulkSource } from '../bulk-meter.ts'
import { writeCredentials } from '../published-writes.ts'
import { type LineProtocolErrorCode, lineProtocolErrors, textOf } from './errors.ts'
import { answerErrors, bodiesGroup, type LineProtocolOptions } from './line-protocol.ts'
import { knownWriter, type LineProtocolOperation, rulesOf } from './operation.ts'
import { createWrite, type Protocol, type StoredLines, writeRefusals } from './write.ts'

export interface RemoteWriterOptions extends Omit<LineProtocolOptions, 'names' | 'entityMetrics' | 'isReady'> {
  remoteMetrics: () => readonly KnownMetric[]
  /** True if a field that is not a metric rejects its sample. */
  unknownFields: 'reject' | 'ignore'
}

/** Bounds the memory of all bodies together. */
const bodiesOfMaximumSize = 4

/** A body that is sent again replaces itself, so these senders may repeat it after every failure that can pass. */
const passing: Partial<Record<LineProtocolErrorCode, { status: number; text: string; retryAfterSeconds: number }>> = {
  TIMEOUT: { status: 503, text: lineProtocolErrors.TIMEOUT.text, retryAfterSeconds: 5 },
  STORAGE_FAILED: { status: 503, text: lineProtocolErrors.STORAGE_FAILED.text, retryAfterSeconds: 5 },
}

const errorsOf = {
  otlp: { ...lineProtocolErrors, ...passing } satisfies ErrorTable,
  /** Prometheus drops the samples of a 429, unless `retry_on_http_429` is set. */
  prometheus: {
    ...lineProtocolErrors,
    ...passing,
    TOO_MANY_ATTEMPTS: { ...lineProtocolErrors.TOO_MANY_ATTEMPTS, status: 503 },
    TOO_MANY_READINGS: { ...lineProtocolErrors.TOO_MANY_READINGS, status: 503 },
  } satisfies ErrorTable,
}
type RemoteFamily = keyof typeof errorsOf

const RemoteWriteError = z.object({ error: z.string() }).meta({ id: 'RemoteWriteError' })
const OtlpMetrics = z.record(z.string(), z.unknown()).meta({ id: 'OtlpMetrics' })
const OtlpStatus = z
  .object({ code: z.int().meta({ description: 'Of google.rpc.Code.' }), message: z.string() })
  .meta({ id: 'OtlpStatus' })
const OtlpAnswer = z
  .object({
    partialSuccess: z.object({ rejectedDataPoints: z.string(), errorMessage: z.string() }).optional(),
  })
  .meta({ id: 'OtlpAnswer' })

export function remoteWriterFamilies(options: RemoteWriterOptions): PublishedFamily<LineProtocolOperation>[] {
  const { bodyBytesMax, unknownFields, log } = options
  const names = { deviceTags: ['device'], fields: [], unknownFields }
  const importer = createLineImporter({ ...options, names })
  const budget = new ByteBudget(bodiesOfMaximumSize * bodyBytesMax)

  function family(
    prefix: string,
    name: RemoteFamily,
    protocol: Protocol,
    published: Omit<LineProtocolOperation, 'handle' | 'method' | 'path' | 'credentials' | 'refusals'>,
  ) {
    const group = bodiesGroup(budget, bodyBytesMax, importer, bodies => {
      const write = createWrite(protocol, importer, bodies, options)
      return {
        ...published,
        method: 'POST',
        path: '/',
        credentials: writeCredentials,
        refusals: writeRefusals,
        onRefused: (request, code) => options.meter.refused(protocol.sourceOf(request), `${name}: ${textOf(code)}`),
        handle: (request, reply, writer) => write(request, reply, writer()),
      }
    })
    return createFamily<LineProtocolOperation>({
      prefix,
      tag: { name: 'remote writers', description: 'Samples of Prometheus and OpenTelemetry.' },
      groups: [group],
      rules: rulesOf(protocol.sendError, options),
      error: name === 'otlp' ? { schema: OtlpStatus, text: [protobufType] } : { schema: RemoteWriteError },
      refusalsOf: ({ refusals = [] }) => [...refusals, 'INTERNAL' as const].map(code => errorsOf[name][code]),
      prepare(scope) {
        answerErrors(scope, protocol.sendError, log)
        scope.removeAllContentTypeParsers()
        scope.addContentTypeParser('*', (_request, payload, done) => done(null, payload))
      },
      refusePath: (_request, reply, code) => {
        protocol.sendError(reply, code === 414 ? 'URI_TOO_LONG' : 'NOT_FOUND')
      },
    })
  }

  return [
    family('/api/v1/write', 'prometheus', prometheus, {
      name: 'remote_write',
      summary: 'Store samples of Prometheus',
      description:
        'Remote write 1.0: a WriteRequest in Protocol Buffers, compressed with Snappy. Answered when all samples are on disk.' +
        ' 400 names samples that are not stored; the others are.',
      // The media type names its message, as in protocol 2.0, so that clients can leave out the other binary body.
      body: { bytes: [`${protobufType};proto=prometheus.WriteRequest`] },
      success: { status: 204, description: 'All samples are on disk' },
    }),
    family('/v1/metrics', 'otlp', otlp, {
      name: 'export_metrics',
      summary: 'Store metrics of OpenTelemetry',
      description:
        'OTLP/HTTP: an ExportMetricsServiceRequest as JSON or in Protocol Buffers, also compressed with gzip. Answered when all' +
        ' accepted points are on disk.',
      body: { json: OtlpMetrics, bytes: [protobufType] },
      success: {
        status: 200,
        description: 'All points are on disk, except those that it counts as rejected',
        json: OtlpAnswer,
        bytes: [protobufType],
      },
    }),
  ]
}

const protobufType = 'application/x-protobuf'
const jsonType = 'application/json'

function sourceOfFamily(family: RemoteFamily): Protocol['sourceOf'] {
  return (request): BulkSource => {
    const way = 'webhook'
    const writer = knownWriter(request)
    const unregistered = writer && { family, owner: writer.owner }
    return { ...sourceOf(way, writer, request.ip), way, unregistered }
  }
}

const prometheus: Protocol = {
  family: 'prometheus',
  sourceOf: sourceOfFamily('prometheus'),
  readHead(request) {
    const { headers } = request
    const isVersion1 = !/proto=(?!prometheus\.WriteRequest)/.test(headers['content-type'] ?? '')
    if (mediaTypeOf(request) !== protobufType || !isVersion1) {
      return { code: 'MEDIA_TYPE_UNSUPPORTED', message: 'the body must be application/x-protobuf of remote write 1.0' }
    }
    if (headers['content-encoding']?.trim().toLowerCase() === 'snappy') return { ...readAs, form: 'prometheus' }
    return { code: 'MEDIA_TYPE_UNSUPPORTED', message: 'the content coding must be snappy' }
  },
  answer(reply, result) {
    if (result.rejected === 0) return reply.code(204).send()
    return sendPrometheusError(reply, 'INVALID', `partial write: ${reasonsOf(result)} dropped=${result.rejected}`)
  },
  sendError: sendPrometheusError,
}

const readAs = { isGzip: false, precision: 'us' } as const

function sendPrometheusError(reply: FastifyReply, code: LineProtocolErrorCode, message = textOf(code)): FastifyReply {
  return setRefusal(withChallenge(reply, code), errorsOf.prometheus[code]).send({ error: message })
}

function withChallenge(reply: FastifyReply, code: LineProtocolErrorCode): FastifyReply {
  return code === 'UNAUTHORIZED' ? reply.header('www-authenticate', 'Basic realm="barograph", charset="UTF-8"') : reply
}

function reasonsOf({ rejected, rejects }: StoredLines): string {
  const reasons = rejects.map(({ device, reason }) => (device === undefined ? reason : `device ${device}: ${reason}`))
  return `${reasons.join('; ')}${rejected > rejects.length ? '; …' : ''}`
}

const otlp: Protocol = {
  family: 'otlp',
  sourceOf: sourceOfFamily('otlp'),
  readHead(request) {
    const type = mediaTypeOf(request)
    if (type !== protobufType && type !== jsonType) {
      return { code: 'MEDIA_TYPE_UNSUPPORTED', message: `the body must be ${protobufType} or ${jsonType}` }
    }
    const coding = request.headers['content-encoding']?.trim().toLowerCase() ?? 'identity'
    if (coding !== 'gzip' && coding !== 'identity') {
      return { code: 'MEDIA_TYPE_UNSUPPORTED', message: 'the content coding must be gzip or identity' }
    }
    return { ...readAs, isGzip: coding === 'gzip', form: type === jsonType ? 'otlp_json' : 'otlp_protobuf' }
  },
  answer(reply, result) {
    const { rejected } = result
    const message = rejected === 0 ? '' : reasonsOf(result)
    if (isJson(reply.request)) {
      const partialSuccess = { rejectedDataPoints: String(rejected), errorMessage: message }
      return reply.send(rejected === 0 ? {} : { partialSuccess })
    }
    const partial = numberAndText(rejected, message)
    const body = rejected === 0 ? Buffer.alloc(0) : Buffer.concat([Buffer.of(0x0a), varint(partial.length), partial])
    return reply.type(protobufType).send(body)
  },
  sendError: sendOtlpError,
}

function isJson(request: FastifyRequest): boolean {
  return mediaTypeOf(request) !== protobufType
}

/** The code of google.rpc.Code for each status. */
const rpcCodes: Record<number, number> = { 401: 16, 403: 7, 404: 5, 405: 12, 429: 8, 500: 13, 501: 12, 503: 14 }
const invalidArgument = 3

function sendOtlpError(reply: FastifyReply, code: LineProtocolErrorCode, message = textOf(code)): FastifyReply {
  const entry = errorsOf.otlp[code]
  const rpcCode = rpcCodes[entry.status] ?? invalidArgument
  setRefusal(withChallenge(reply, code), entry)
  if (isJson(reply.request)) return reply.send({ code: rpcCode, message })
  return reply.type(protobufType).send(numberAndText(rpcCode, message))
}

/** A message with a number as its field 1 and a text as its field 2: `Status`, and `ExportMetricsPartialSuccess`. */
function numberAndText(number: number, text: string): Buffer {
  const bytes = Buffer.from(text)
  return Buffer.concat([Buffer.of(0x08), varint(number), Buffer.of(0x12), varint(bytes.length), bytes])
}

function varint(value: number): Buffer {
  const bytes: number[] = []
  let left = value
  for (; left >= 0x80; left = Math.floor(left / 0x80)) bytes.push((left % 0x80) | 0x80)
  return Buffer.from([...bytes, left])
}
