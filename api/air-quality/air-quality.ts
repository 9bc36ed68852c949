/** The API of the air-quality network below `/api/v1.0`: registers its routes. */

import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Accounts } from '../../auth/accounts/accounts.ts'
import type { Keys } from '../../auth/keys/keys.ts'
import type { Stations } from '../../auth/stations/stations.ts'
import { createPointsBodyReader } from '../../ingest/import/points-body-reader.ts'
import type { PointsIngest } from '../../ingest/ingest.ts'
import type { Points } from '../../query/points/points.ts'
import type { Log } from '../../store/log.ts'
import type { Contract } from '../docs/contract.ts'
import { addJsonBody } from '../http/json-body.ts'
import { isLocalRequest } from '../http/local-request.ts'
import { createPublicAddress } from '../http/public-address.ts'
import type { RouteFamily } from '../http/route-family.ts'
import { accountPaths } from './account.ts'
import { createAuthenticate } from './authenticate.ts'
import { airQualityContract } from './contract/contract.ts'
import { devicePaths, type RemoveStation } from './devices.ts'
import { emptyListPaths } from './empty-lists.ts'
import { sendError } from './errors.ts'
import { answerErrors } from './failures.ts'
import { prefix, registerPaths } from './paths.ts'
import { pointPaths } from './points.ts'

export interface AirQualityOptions {
  stations: Stations
  removeStation: RemoveStation
  points: Points
  pointsIngest: Pick<PointsIngest, 'append' | 'clockUs'>
  /** How far ahead of our clock the time of a point may be. */
  aheadMsMax: number
  accounts: Pick<Accounts, 'findByEmail'>
  keys: Pick<Keys, 'find'>
  nowMs: () => number
  log: Log
  /** Under which address people reach the service; without it, by what a request says. */
  publicUrl: string | undefined
  failedAttemptsPerMinute: number
  /** Whether plain HTTP is refused that does not come from this machine. */
  requireHttps: boolean
  /** Proxies, whose requests are of others. */
  isTrusted: (address: string) => boolean
}

export function airQualityFamily(options: AirQualityOptions): RouteFamily & { contract: Contract } {
  const { stations, log, requireHttps, isTrusted } = options
  const addressOf = createPublicAddress(options.publicUrl)
  const isSecure = (request: FastifyRequest) =>
    !requireHttps || request.protocol === 'https' || isLocalRequest(request.raw, isTrusted)

  const pointsBodies = createPointsBodyReader()
  const paths = [
    ...accountPaths(options.nowMs),
    ...devicePaths(options),
    ...pointPaths({ ...options, pointsBodies }),
    ...emptyListPaths(stations),
  ]

  function register(scope: FastifyInstance): void {
    addJsonBody(scope)
    answerErrors(scope, log)
    scope.addHook('onClose', () => pointsBodies.close())
    registerPaths(scope, paths, { stations, authenticate: createAuthenticate(options), isSecure, addressOf })
  }

  return {
    prefix,
    register,
    routedUrl,
    contract: airQualityContract(paths),
    refusePath: (_request, reply, code) => void sendError(reply, code === 414 ? 'URI_TOO_LONG' : 'NOT_FOUND'),
  }
}

const alias = `${prefix}/devices`

/** `/devices/…` is the same as `/device/…`. */
function routedUrl(url: string): string {
  if (!url.startsWith(alias)) return url
  const rest = url.slice(alias.length)
  return rest === '' || rest[0] === '/' || rest[0] === '?' ? `${prefix}/device${rest}` : url
}
