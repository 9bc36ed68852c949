/** Paths of InfluxDB, by which its clients write readings: registers their routes. */

import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Devices } from '../../../auth/devices/devices.ts'
import type { Keys } from '../../../auth/keys/keys.ts'
import { isPassing } from '../../../auth/passing-errors.ts'
import type { CredentialWriter, Writers } from '../../../auth/writers.ts'
import type { LineNames } from '../../../ingest/formats/line-protocol-names.ts'
import { createLineImporter } from '../../../ingest/import/line-protocol-import.ts'
import type { Ingest } from '../../../ingest/ingest.ts'
import type { Ranges, TimeLimits } from '../../../ingest/reading.ts'
import { ByteBudget } from '../../../limits/byte-budget.ts'
import type { Log } from '../../../store/log.ts'
import type { AuthRateLimit } from '../../http/auth-rate-limit.ts'
import { errorCodeOf, leavesBodyUnread } from '../../http/errors.ts'
import type { RouteFamily } from '../../http/route-family.ts'
import type { BulkMeter } from '../bulk-meter.ts'
import type { FairShare } from '../fair-share.ts'
import { createBodies } from './body.ts'
import { createFindWriter, hasCredential } from './credentials.ts'
import { sendError, type Version } from './errors.ts'
import { answerBuckets, answerHealth, answerPing, answerQuery, readForm } from './start-up.ts'
import { createWrite } from './write.ts'

export interface LineProtocolOptions extends TimeLimits {
  ingest: Pick<Ingest, 'append' | 'stampUs' | 'clockUs' | 'status'>
  devices: Pick<Devices, 'seen'>
  writers: Writers
  keys: Pick<Keys, 'find'>
  names: LineNames
  ranges: Ranges
  /** Of a body without its compression. */
  bodyBytesMax: number
  authRateLimit: AuthRateLimit
  meter: BulkMeter
  fairShare: FairShare
  /** Whether readings can be taken. */
  isReady: () => boolean
  nowMs: () => number
  log: Log
}

type Handler = (
  request: FastifyRequest,
  reply: FastifyReply,
  writer: CredentialWriter,
) => Promise<FastifyReply> | FastifyReply

/** So much memory all bodies together may take. */
const bodiesOfMaximumSize = 4
/** The framework answers the second by the handler of the first. */
const readMethods = ['GET', 'HEAD']

const writerOf = new WeakMap<FastifyRequest, CredentialWriter>()

/** One for each prefix, since the paths of InfluxDB have none in common. */
export function lineProtocolFamilies(options: LineProtocolOptions): RouteFamily[] {
  const importer = createLineImporter(options)
  const budget = new ByteBudget(bodiesOfMaximumSize * options.bodyBytesMax)
  const authenticate = createAuthenticate(options)

  function family(prefix: string, version: Version, register: (scope: FastifyInstance) => void): RouteFamily {
    return {
      prefix,
      register(scope) {
        answerErrors(scope, version, options.log)
        // Of every type: clients name many, and some none.
        scope.removeAllContentTypeParsers()
        scope.addContentTypeParser('*', (_request, payload, done) => done(null, payload))
        register(scope)
      },
      refusePath: (_request, reply, code) => {
        sendError(reply, version, code === 414 ? 'URI_TOO_LONG' : 'NOT_FOUND')
      },
    }
  }

  /** A path that asks for a credential before anything of the body is read. */
  function guarded(scope: FastifyInstance, version: Version, method: string, url: string, handle: Handler): void {
    scope.route({
      method,
      url,
      onRequest: authenticate(version),
      handler: (request, reply) => handle(request, reply, writerOf.get(request) as CredentialWriter),
    })
    refuseOthers(scope, version, method === 'GET' ? readMethods : [method], url)
  }

  function addWrite(scope: FastifyInstance, version: Version, url: string): void {
    const bodies = createBodies(scope, options.bodyBytesMax, budget)
    // Before the server waits for its requests.
    scope.addHook('preClose', () => importer.close())
    guarded(scope, version, 'POST', url, createWrite(version, importer, bodies, options))
  }

  return [
    family('/write', 1, scope => addWrite(scope, 1, '/')),
    family('/api/v2', 2, scope => {
      addWrite(scope, 2, '/write')
      guarded(scope, 2, 'GET', '/buckets', answerBuckets)
    }),
    family('/query', 1, scope => {
      scope.addContentTypeParser(
        'application/x-www-form-urlencoded',
        { parseAs: 'string', bodyLimit: 65_536 },
        readForm,
      )
      guarded(scope, 1, 'POST', '/', answerQuery)
    }),
    family('/ping', 1, scope => {
      scope.get('/', answerPing)
      refuseOthers(scope, 1, readMethods, '/')
    }),
    family('/health', 2, scope => {
      scope.get('/', (_request, reply) => answerHealth(reply, options.isReady()))
      refuseOthers(scope, 2, readMethods, '/')
    }),
  ]
}

/** Lets in whom `authenticate` knows, and answers everybody else. */
function createAuthenticate({ writers, keys, authRateLimit }: LineProtocolOptions) {
  const findWriter = createFindWriter({ writers, keys })
  return (version: Version) =>
    async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply | undefined> => {
      // Until it is known who asks, the body stays unread.
      reply.header('connection', 'close')
      const writer = await findWriter(request)
      if (typeof writer === 'object') {
        reply.removeHeader('connection')
        writerOf.set(request, writer)
        return undefined
      }
      if (writer === 'FORBIDDEN') return sendError(reply, version, 'FORBIDDEN')
      // Some clients send a credential only when they have been asked for one.
      const isExceeded = hasCredential(request) && authRateLimit.isExceeded(request.ip)
      return sendError(reply, version, isExceeded ? 'TOO_MANY_ATTEMPTS' : 'UNAUTHORIZED')
    }
}

function refuseOthers(scope: FastifyInstance, version: Version, allowed: readonly string[], url: string): void {
  scope.route({
    method: scope.supportedMethods.filter(method => !allowed.includes(method)),
    url,
    onRequest: async (_request, reply) => {
      reply.header('allow', allowed.join(', ')).header('connection', 'close')
      return sendError(reply, version, 'METHOD_NOT_ALLOWED')
    },
    handler: () => undefined,
  })
}

function answerErrors(scope: FastifyInstance, version: Version, log: Log): void {
  scope.setNotFoundHandler((_request, reply) => sendError(reply.header('connection', 'close'), version, 'NOT_FOUND'))
  scope.setErrorHandler((error: FastifyError, _request, reply) => {
    if (isPassing(error)) return sendError(reply, version, 'DATABASE_AWAY')
    const code = errorCodeOf(error)
    if (code === 'INTERNAL') log.error({ err: error }, 'write in line protocol failed')
    if (leavesBodyUnread(code)) reply.header('connection', 'close')
    return sendError(reply, version, code)
  })
}
