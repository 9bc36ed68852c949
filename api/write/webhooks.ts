/**
 * `/in`: messages that sensors and networks send in formats of their own, decoded by their family and taken as readings of
 * `PUT /api/log` are. Many senders can set an address and nothing else, so an API key may stand in the path.
 */

import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { Keys } from '../../auth/keys/keys.ts'
import { isPassing } from '../../auth/passing-errors.ts'
import type { AuthRateLimit } from '../../auth/rate-limits.ts'
import type { CredentialWriter, NoWriter } from '../../auth/writers.ts'
import { familyNames } from '../../ingest/decoders/decoders.ts'
import { isDecoderName } from '../../ingest/decoders/own-decoder.ts'
import type { Decoders } from '../../ingest/decoders/own-decoders.ts'
import type { RecentMessages } from '../../ingest/decoders/recent-messages.ts'
import { databaseAway, type Intake } from '../../ingest/intake/intake.ts'
import type { ReadingMeter } from '../../ingest/intake/reading-meter.ts'
import { type Refusal, refusalText } from '../../ingest/intake/refusal.ts'
import { sourceOf, withReading } from '../../ingest/intake/rejection-source.ts'
import type { Rejection } from '../../ingest/rejections/rejection.ts'
import type { Log } from '../../store/log.ts'
import { parseJson } from '../../store/strict-json.ts'
import { errorCodeOf, leavesBodyUnread, refuseMethod } from '../http/errors.ts'
import type { Operation } from '../http/operation.ts'
import { addJsonBody, BodyError, invalidJson } from '../http/request-body.ts'
import { createFamily, type PublishedFamily, type Scope } from '../http/route-family.ts'
import { LoggerError, type LoggerErrorCode, loggerErrors, sendError } from '../http/status-operations.ts'
import { sourceOfRequest } from './accept-once.ts'
import { type RefusedReading, refusalOf, takeReadings } from './decoded-readings.ts'
import { createFindWriter, type FindWriterOptions } from './find-writer.ts'
import { forbidden, unauthorized } from './log.ts'
import { refusalsOfWrites, writeCredentials } from './published-writes.ts'

export interface WebhookOptions extends Pick<FindWriterOptions, 'findPrincipal'> {
  writers: FindWriterOptions['writers']
  keys: Pick<Keys, 'find'>
  intake: Intake
  meter: ReadingMeter
  decoders: Decoders
  recent: Pick<RecentMessages, 'add'>
  /** The limit counts failing credentials. */
  authRateLimit: AuthRateLimit
  log: Log
}

type WebhookOperation = Operation<LoggerErrorCode>

const bodyBytesMax = 256 * 1024
const parametersMax = 500

/** Addresses are shown to more people than headers, so a key in one must not be able to do more. */
const widerKey: Refusal = {
  ...forbidden,
  members: { detail: 'a key in an address must have the scope ingest and no other' },
}

export function webhookFamilies(options: WebhookOptions): PublishedFamily<WebhookOperation>[] {
  return [
    webhookFamily('/in', ['/:family/:key', '/:family'].flatMap(operationsOf), options),
    // Many stations can be given another host, and no other path.
    webhookFamily('/weatherstation', operationsOf('/updateweatherstation.php'), options),
  ]
}

function webhookFamily(
  prefix: string,
  operations: readonly WebhookOperation[],
  options: WebhookOptions,
): PublishedFamily<WebhookOperation> {
  const { log } = options
  const { authenticate, take, refuseBroken } = createWebhooks(options)
  return createFamily<WebhookOperation>({
    prefix,
    tag: { name: 'webhooks', description: 'Messages of sensors in formats of their own, by family.' },
    groups: [{ operations, prepare: addBodies }],
    rules: {
      // A HEAD would store.
      head: 'refused',
      onRequest: () => authenticate,
      handler: () => take,
      refuseMethod: (_request, reply, allowed) => refuseMethod(reply, allowed),
    },
    error: { schema: LoggerError },
    refusalsOf: ({ refusals = [] }) =>
      [...refusals, 'INTERNAL' as const, 'BAD_REQUEST' as const, 'URI_TOO_LONG' as const].map(
        code => loggerErrors[code],
      ),
    prepare(scope) {
      scope.addHook('onError', (request, _reply, error, done) => {
        refuseBroken(request, error)
        done()
      })
      scope.setErrorHandler((error: FastifyError, _request, reply) => {
        const code = errorCodeOf(error)
        if (code === 'INTERNAL') log.error({ err: error }, 'webhook failed')
        if (leavesBodyUnread(code)) reply.header('connection', 'close')
        return sendError(reply, code)
      })
    },
  })
}

type Parameters = Record<string, string>

function createWebhooks({
  writers,
  findPrincipal,
  keys,
  intake,
  meter,
  authRateLimit,
  decoders,
  recent,
}: WebhookOptions) {
  const findByHeader = createFindWriter({ writers, findPrincipal })
  const admitted = new WeakMap<FastifyRequest, CredentialWriter>()

  async function findWriter(request: FastifyRequest): Promise<CredentialWriter | NoWriter | Refusal> {
    const text = keyInAddress(request)
    if (text === undefined) return await findByHeader(request.raw)
    const find = () => keys.find(text)
    const principal = await find()
    if (principal?.kind === 'key' && principal.scopes.some(scope => scope !== 'ingest')) return widerKey
    return writers.ofPrincipal(principal, find)
  }

  /** Authentication precedes the reading of the body. */
  async function authenticate(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply | undefined> {
    const family = familyOf(request)
    // Messages of a decoder that is not written yet are kept for its author.
    if (decoders.named(family) === undefined && !isDecoderName(family)) return refuseFamily(reply)
    let found: CredentialWriter | NoWriter | Refusal
    try {
      found = await findWriter(request)
    } catch (error) {
      if (!isPassing(error)) throw error
      found = databaseAway
    }
    if (typeof found === 'object' && !('code' in found)) {
      admitted.set(request, found)
      return undefined
    }
    return refuse(reply.header('connection', 'close'), refusalOfCredential(found, request.ip))
  }

  function refusalOfCredential(found: NoWriter | Refusal, address: string): Refusal {
    if (typeof found === 'object') return found
    if (found === 'FORBIDDEN') return forbidden
    return authRateLimit.isExceeded(address) ? { reason: 'throttled', code: 'TOO_MANY_ATTEMPTS' } : unauthorized
  }

  function refuse(reply: FastifyReply, { reason, code, members }: Refusal): FastifyReply {
    note(reply.request, reason, refusalText({ code, members }))
    return sendError(reply, code, members)
  }

  function note(request: FastifyRequest, reason: Refusal['reason'], text: string): void {
    const source = sourceOfRequest('webhook', admitted.get(request), request)
    meter.rejected(reason, { ...source, reason: `${familyOf(request)}: ${text}` })
  }

  async function take(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const writer = admitted.get(request) as CredentialWriter
    const query = parametersOf(request)
    const { body = query } = request
    // A device that sends by its own credential need not name itself.
    const parameters = writer.device === undefined ? query : { ...query, device: writer.device.name }
    const family = familyOf(request)
    recent.add('webhook', family, { body, parameters: query }, bytesOf(request))
    const decoded = decoders.named(family)?.({ body, parameters })
    if (decoded === undefined) return refuseFamily(reply)
    if (decoded.kind === 'nothing') return reply.send({ status: 'success', stored: 0, detail: decoded.reason })
    if (decoded.kind === 'rejected') {
      note(request, 'invalid', decoded.reason)
      return sendError(reply, 'PAYLOAD_INVALID', { detail: decoded.reason })
    }
    const taken = await takeReadings(intake, writer, decoded.readings)
    for (const refused of taken.refused) meter.rejected(refused.refusal.reason, rejectionOf(request, writer, refused))
    for (const { device, part, reason } of taken.leftOut) {
      meter.leftOut({ ...sourceOf('webhook', writer, request.ip), device, reason, part })
    }
    const refusal = refusalOf(taken)
    if (refusal !== undefined) return sendError(reply, refusal.code, refusal.members)
    const rejected = taken.refused.map(({ device, refusal }) => ({ device, reason: refusalText(refusal) }))
    return reply.send({ status: 'success', stored: taken.stored, ...(rejected.length > 0 && { rejected }) })
  }

  /** A body that the framework or a parser refuses. */
  function refuseBroken(request: FastifyRequest, error: FastifyError): void {
    const code = errorCodeOf(error)
    note(request, code === 'PAYLOAD_TOO_LARGE' ? 'too_large' : 'invalid', loggerErrors[code].text)
  }

  return { authenticate, take, refuseBroken }
}

function rejectionOf(request: FastifyRequest, writer: CredentialWriter, refused: RefusedReading): Rejection {
  const { device, refusal, fields } = refused
  const family = familyOf(request)
  const reason = `${family}: ${refusalText(refusal)}`
  const rejection = { ...sourceOf('webhook', writer, request.ip), device, reason }
  return withReading(refusal.reason, rejection, { family, owner: writer.owner, fields })
}

function refuseFamily(reply: FastifyReply): FastifyReply {
  return sendError(reply.header('connection', 'close'), 'NOT_FOUND', {
    detail: `the families are ${familyNames.join(', ')}, and the names on /admin/decoders`,
  })
}

function familyOf(request: FastifyRequest): string {
  return (request.params as Parameters)['family'] ?? 'wunderground'
}

/** Infinite for a body of unknown length. */
function bytesOf({ method, originalUrl, headers }: FastifyRequest): number {
  return method === 'GET' ? originalUrl.length : Number(headers['content-length'] ?? Number.POSITIVE_INFINITY)
}

/** The key is in the path, or where the protocol of Weather Underground has its password. */
function keyInAddress(request: FastifyRequest): string | undefined {
  const { key } = request.params as Parameters
  return key ?? (familyOf(request) === 'wunderground' ? parametersOf(request)['PASSWORD'] : undefined)
}

function parametersOf({ originalUrl }: FastifyRequest): Parameters {
  const at = originalUrl.indexOf('?')
  return at === -1 ? {} : Object.fromEntries([...new URLSearchParams(originalUrl.slice(at))].slice(0, parametersMax))
}

/** JSON whatever its type is called, and forms. */
function addBodies(scope: Scope): void {
  addJsonBody(scope)
  scope.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => {
    try {
      done(null, parseJson(body as Buffer))
    } catch {
      done(invalidJson())
    }
  })
  scope.addContentTypeParser('application/x-www-form-urlencoded', { parseAs: 'buffer' }, (_request, body, done) => {
    const form = new URLSearchParams(body.toString())
    // `%EF%BF%BD` replaces bytes that are not UTF-8.
    if (form.toString().includes('%EF%BF%BD')) done(new BodyError(400, 'the form is not UTF-8'))
    else done(null, Object.fromEntries([...form].slice(0, parametersMax)))
  })
}

const Taken = z
  .object({
    status: z.literal('success'),
    stored: z.int().meta({ description: 'Readings on disk; 0 for a message without any, such as a join.' }),
    detail: z.string().optional(),
    rejected: z
      .array(z.object({ device: z.string(), reason: z.string() }))
      .optional()
      .meta({ description: 'Readings of the message that are not stored.' }),
  })
  .meta({ id: 'TakenMessage' })

const SensorMessage = z.record(z.string(), z.unknown()).meta({ id: 'SensorMessage' })
const SensorForm = z.record(z.string(), z.string()).meta({ id: 'SensorForm' })

const PathParameters = {
  family: z.string().meta({ description: 'The family of the sender, or the name of an own decoder.' }),
  key: z.string().meta({ description: 'An API key that has the scope ingest and no other.' }),
}
const MessageQuery = z.object({
  device: z.string().optional().meta({ description: 'The device, in place of the one that the message names.' }),
})

function operationsOf(path: string): WebhookOperation[] {
  const names = { '/:family/:key': 'by_address', '/:family': 'by_header' } as Record<string, string>
  const name = names[path] ?? 'of_weather_station'
  const { family, key } = PathParameters
  const shape = { ...(path.includes(':family') && { family }), ...(path.includes(':key') && { key }) }
  const shared = {
    path,
    ...(path === '/:family' && { credentials: writeCredentials }),
    parameters: { query: MessageQuery, ...(path.includes(':') && { path: z.object(shape) }) },
    bodyBytesMax,
    success: { status: 200, description: 'Its readings are on disk', json: Taken },
    refusals,
  }
  const description =
    'In the format of its family (docs/sensors.md): JSON, a form or a query string. ThingsBoard also sends lists.'
  return [
    {
      ...shared,
      method: 'POST',
      name: `post_message_${name}`,
      summary: 'Take a message of a sensor',
      description,
      body: { json: SensorMessage, form: SensorForm, isOptional: true },
    },
    {
      ...shared,
      method: 'GET',
      name: `get_message_${name}`,
      summary: 'Take a message of a sensor in the query string',
      description,
    },
  ]
}

const refusals: readonly LoggerErrorCode[] = [
  ...refusalsOfWrites,
  'FORBIDDEN',
  'NOT_FOUND',
  'DEVICE_MISMATCH',
  'LOGGING_DISABLED',
  'TOO_MANY_OF_OWNER',
  'DEVICE_UNKNOWN',
  'DEVICE_SUSPENDED',
]
