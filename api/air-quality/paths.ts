/** One path of the API with its methods: in which order a request is looked at before anything of its body is read. */

import assert from 'node:assert/strict'
import type { IncomingMessage } from 'node:http'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { type KeyPrincipal, mayUse, type StationOperation } from '../../auth/stations/permissions.ts'
import type { Station } from '../../auth/stations/station.ts'
import type { Stations } from '../../auth/stations/stations.ts'
import { hasBody } from '../http/body-deadlines.ts'
import { argumentsMax, hasTooManyArguments } from '../http/query-limits.ts'
import type { Authenticated } from './authenticate.ts'
import type { PublishedAs } from './contract/operations.ts'
import { type AirQualityErrorCode, sendError } from './errors.ts'

export interface Asked {
  readonly key: KeyPrincipal
  /** The one that the path names as `:sn`; the key may do with it what is asked. */
  readonly station: Station | undefined
  /** The public address of this API, without a slash at the end. */
  readonly base: string
  /** What was asked for: absolute, and without its query. */
  readonly url: string
  readonly query: URLSearchParams
  /** Asks again, once a body is there: why the key may not do it any more. */
  refusal(): Promise<AirQualityErrorCode | undefined>
}

export interface Operation {
  /** What the API key needs to be allowed. */
  permission: StationOperation
  /** What the contract says of it. */
  published: PublishedAs
  bodyBytesMax?: number
  /** The handler gets the bytes of a JSON body. */
  hasJsonBytes?: boolean
  handle(asked: Asked, request: FastifyRequest, reply: FastifyReply): FastifyReply | Promise<FastifyReply>
}

export function readOperation(published: PublishedAs, handle: Operation['handle']): Operation {
  return { permission: 'read', published, handle }
}

/** GET stands for HEAD too. */
type Method = 'GET' | 'POST' | 'PUT' | 'DELETE'

export interface Path {
  /** Without a slash at the end. */
  url: string
  /** Whether a slash has to be at the end, must not be there, or makes no difference. */
  slash: 'required' | 'none' | 'either'
  methods: Partial<Record<Method, Operation>>
}

export interface PathsOptions {
  stations: Pick<Stations, 'find'>
  authenticate: (request: FastifyRequest) => Promise<Authenticated>
  /** Whether it came by HTTPS, or need not. */
  isSecure: (request: FastifyRequest) => boolean
  /** Under which address the client reaches the service. */
  addressOf: (request: FastifyRequest) => string
}

export const prefix = '/api/v1.0'
const bodyBytesMaxUsual = 64 * 1024
const asked = new WeakMap<IncomingMessage, Asked>()

export function registerPaths(scope: FastifyInstance, paths: readonly Path[], options: PathsOptions): void {
  for (const path of paths) {
    const { url, methods } = path
    scope.route({
      method: [...scope.supportedMethods],
      url,
      exposeHeadRoute: false,
      config: { hasJsonBytes: Object.values(methods).some(operation => operation.hasJsonBytes === true) },
      bodyLimit: Math.max(...Object.values(methods).map(({ bodyBytesMax = bodyBytesMaxUsual }) => bodyBytesMax)),
      onRequest: async (request, reply) => (await admit(path, options, request, reply)) as undefined,
      handler: (request, reply) => {
        const operation = operationOf(path, request)
        const known = asked.get(request.raw)
        assert(operation !== undefined && known !== undefined, 'what reaches a handler was admitted')
        return operation.handle(known, request, reply)
      },
    })
  }
}

function operationOf({ methods }: Path, { method }: FastifyRequest): Operation | undefined {
  const name = method === 'HEAD' ? 'GET' : method
  return Object.hasOwn(methods, name) ? methods[name as Method] : undefined
}

/** Answers what is not let in; a reply means that all is said. */
async function admit(
  path: Path,
  options: PathsOptions,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply | undefined> {
  // Until somebody may do what is asked, the body stays unread, so the connection cannot be used again.
  if (hasBody(request.raw)) reply.header('connection', 'close')
  if (!options.isSecure(request)) return await sendError(reply, 'HTTPS_REQUIRED')
  const addressed = checkAddress(path, request, reply)
  if (addressed !== undefined) return await addressed
  if (hasTooManyArguments(request.originalUrl)) {
    return await sendError(reply, 'BAD_REQUEST', `at most ${argumentsMax} arguments`)
  }
  const known = await identify(path, options, request)
  if (typeof known === 'string') return await sendError(reply, known)
  asked.set(request.raw, known)
  reply.removeHeader('connection')
  return undefined
}

/** What a path and a method say by themselves, whoever asks. */
function checkAddress(path: Path, request: FastifyRequest, reply: FastifyReply): FastifyReply | undefined {
  const { originalUrl, method } = request
  const pathname = pathOf(originalUrl)
  const isSlashed = pathname.endsWith('/')
  if (path.slash === 'none' && isSlashed) return sendError(reply, 'NOT_FOUND')
  if (path.slash === 'required' && !isSlashed) {
    const location = `${pathname}/${originalUrl.slice(pathname.length)}`
    return reply.code(308).header('location', location).send()
  }
  if (operationOf(path, request) !== undefined) return undefined
  reply.header('allow', allowedMethods(path).join(', '))
  return method === 'OPTIONS' ? reply.code(200).send() : sendError(reply, 'METHOD_NOT_ALLOWED')
}

function allowedMethods({ methods }: Path): string[] {
  return [...Object.keys(methods).flatMap(method => (method === 'GET' ? ['GET', 'HEAD'] : [method])), 'OPTIONS']
}

function pathOf(url: string): string {
  const at = url.indexOf('?')
  return at < 0 ? url : url.slice(0, at)
}

async function identify(
  path: Path,
  options: PathsOptions,
  request: FastifyRequest,
): Promise<Asked | AirQualityErrorCode> {
  const { stations, authenticate, addressOf } = options
  const operation = operationOf(path, request)
  assert(operation !== undefined, 'a method without an operation was refused')
  const authenticated = await authenticate(request)
  if (!authenticated.ok) return authenticated.code
  const { key } = authenticated
  if (!mayUse(operation.permission, key)) return 'FORBIDDEN'
  const { sn } = request.params as { sn?: string }
  const station = sn === undefined ? undefined : await stations.find(sn)
  if (sn !== undefined && station === undefined) return 'STATION_UNKNOWN'
  if (station !== undefined && !mayUse(operation.permission, key, station)) return 'FORBIDDEN'
  const address = addressOf(request)
  const pathname = pathOf(request.originalUrl)
  const query = new URLSearchParams(request.originalUrl.slice(pathname.length))
  async function refusal(): Promise<AirQualityErrorCode | undefined> {
    const now = await identify(path, options, request)
    if (typeof now === 'string') return now
    // Another one of this sn is not the one that was meant.
    return now.station?.id === station?.id ? undefined : 'STATION_UNKNOWN'
  }
  return { key, station, base: `${address}${prefix}`, url: `${address}${pathname}`, query, refusal }
}

/** Of a path with `:sn`. */
export function stationIn({ station }: Asked): Station {
  assert(station !== undefined, 'the path names a station')
  return station
}
