/** Finds the station of a read. An unreadable station looks unknown. */

import type { FastifyRequest } from 'fastify'
import type { AuthRateLimit } from '../../../auth/auth-rate-limit.ts'
import { isPassing } from '../../../auth/passing-errors.ts'
import { mayReadStation } from '../../../auth/stations/permissions.ts'
import type { Station } from '../../../auth/stations/station.ts'
import type { Stations } from '../../../auth/stations/stations.ts'
import type { FindPrincipal } from '../../credentials/find-principal.ts'
import type { LoggerErrorCode } from '../../http/status-operations.ts'
import type { AwaitedSubject } from '../read-subjects.ts'
import type { Reader } from '../readers.ts'

export interface StationSubjectOptions {
  stations: Pick<Stations, 'find'>
  findPrincipal: FindPrincipal
  authRateLimit: AuthRateLimit
}

export function stationInPath(options: StationSubjectOptions): AwaitedSubject<Station> {
  const { stations, findPrincipal, authRateLimit } = options

  async function find(request: FastifyRequest, reader: Reader): Promise<Station | LoggerErrorCode> {
    if (!reader.readsStations) return reader.refusal
    const station = await stations.find((request.params as { sn: string }).sn)
    if (station?.private === false) return station
    // The lookup also runs for an unknown station, so that a credential's outcome does not reveal private stations.
    const principal = await findPrincipal(request.raw)
    if (station !== undefined && mayReadStation(principal, station)) return station
    const isGuess = principal === undefined && hasCredential(request)
    return isGuess && authRateLimit.isExceeded(request.ip) ? 'TOO_MANY_ATTEMPTS' : 'STATION_UNKNOWN'
  }

  return {
    of: 'station',
    parameters: [],
    async resolve(request, reader) {
      const found = await find(request, reader).catch((error: unknown) => {
        if (isPassing(error)) return 'DATABASE_AWAY' as const
        throw error
      })
      return typeof found === 'string' ? { ok: false, code: found } : { ok: true, about: found }
    },
  }
}

function hasCredential({ headers }: FastifyRequest): boolean {
  return headers.authorization !== undefined || headers['x-api-key'] !== undefined
}
