/** Registers the routes of the air-quality API below `/api/v1.0`. */

import type { Accounts } from '../../auth/accounts/accounts.ts'
import type { Keys } from '../../auth/keys/keys.ts'
import type { Stations } from '../../auth/stations/stations.ts'
import { createPointsBodyReader } from '../../ingest/import/points-body.ts'
import type { PointsIngest } from '../../ingest/ingest.ts'
import type { Rejections } from '../../ingest/rejections/rejections.ts'
import type { Points } from '../../query/points/points.ts'
import type { ProcessCount } from '../../store/limits/token-buckets.ts'
import type { Log } from '../../store/log.ts'
import { createPublicAddress, isLocalRequest } from '../http/request-address.ts'
import { addJsonBody } from '../http/request-body.ts'
import { createFamily, type PublishedFamily } from '../http/route-family.ts'
import { accountOperations } from './account.ts'
import { airQualityRules, answerErrors, createAuthenticate, prefix } from './admission.ts'
import { AirQualityError } from './answers.ts'
import { deviceOperations, type RemoveStation } from './devices.ts'
import { emptyListOperations } from './empty-lists.ts'
import { sendError } from './errors.ts'
import { type AirQualityOperation, refusalHeadersOf, refusalsOf } from './operation.ts'
import { pointOperations } from './points.ts'

export interface AirQualityOptions {
  stations: Stations
  removeStation: RemoveStation
  points: Points
  pointsIngest: Pick<PointsIngest, 'append' | 'clockUs'>
  /** Times of points may be this far ahead of the clock. */
  aheadMsMax: number
  accounts: Pick<Accounts, 'findByEmail'>
  keys: Pick<Keys, 'find'>
  nowMs: () => number
  log: Log
  /** Public address of the service. Without it, the request's address is used. */
  publicUrl: string | undefined
  failedAttemptsPerMinute: number
  /** Processes share the limits of an address. */
  processes?: ProcessCount
  /** True if plain HTTP from other machines is refused. */
  requireHttps: boolean
  /** Proxies forward the requests of others. */
  isTrusted: (address: string) => boolean
  rejections: Pick<Rejections, 'add' | 'addLines'>
}

export function airQualityFamily(options: AirQualityOptions): PublishedFamily<AirQualityOperation> {
  const { stations, log, requireHttps, isTrusted } = options
  const pointsBodies = createPointsBodyReader()
  const operations = [
    ...accountOperations(options.nowMs),
    ...deviceOperations(options),
    ...pointOperations({ ...options, pointsBodies }),
    ...emptyListOperations(stations),
  ]
  return createFamily<AirQualityOperation>({
    prefix,
    tag,
    groups: [{ operations }],
    rules: airQualityRules({
      stations,
      authenticate: createAuthenticate(options),
      isSecure: ({ protocol, raw }) => !requireHttps || protocol === 'https' || isLocalRequest(raw, isTrusted),
      addressOf: createPublicAddress(options.publicUrl),
    }),
    error: { schema: AirQualityError, headersOf: refusalHeadersOf },
    refusalsOf,
    securitySchemes,
    routedUrl,
    refusePath: (_request, reply, code) => void sendError(reply, code === 414 ? 'URI_TOO_LONG' : 'NOT_FOUND'),
    prepare(scope) {
      addJsonBody(scope)
      answerErrors(scope, log)
      scope.addHook('onClose', () => pointsBodies.close())
    },
  })
}

const tag = {
  name: 'air quality',
  description:
    `The stations of an air-quality network. Requests need HTTPS, except from the machine itself. \`${prefix}/devices\` is the same as` +
    ` \`${prefix}/device\`, HEAD answers as GET does, and a path without the slash at its end is redirected.`,
}
const securitySchemes = {
  basicKey: { type: 'http', scheme: 'basic', description: 'An API key as the user name; the password is ignored.' },
}

const alias = `${prefix}/devices`

/** `/devices/…` is the same as `/device/…`. */
function routedUrl(url: string): string {
  if (!url.startsWith(alias)) return url
  const rest = url.slice(alias.length)
  return rest === '' || rest[0] === '/' || rest[0] === '?' ? `${prefix}/device${rest}` : url
}
