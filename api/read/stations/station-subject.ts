/** A station as the subject of reads: how it is found, and its metrics. */

import type { FastifyRequest } from 'fastify'
import { isPassing } from '../../../auth/passing-errors.ts'
import type { AuthRateLimit } from '../../../auth/rate-limits.ts'
import { mayReadStation } from '../../../auth/stations/permissions.ts'
import { type Parameter, parameters, type Station } from '../../../auth/stations/station.ts'
import type { Stations } from '../../../auth/stations/stations.ts'
import type { CustomMetric } from '../../../query/custom-metric.ts'
import { catalogueEntry } from '../../../store/metrics/catalogue.ts'
import { descriptionOf, type Metric } from '../../../store/metrics/metric.ts'
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

/** The used part of the registry. */
export interface DescribedMetrics {
  get(name: string): Metric | undefined
}

/** Ordered as in the interface, or as named. */
export function stationMetrics(
  metrics: DescribedMetrics,
  { series }: Station,
  names: readonly string[] | undefined,
): CustomMetric[] {
  const all = parameters.filter(parameter => series.has(parameter))
  const wanted = names?.flatMap(name => all.find(parameter => parameter === name) ?? []) ?? all
  return wanted.map(parameter => metricOf(metrics, parameter, series.get(parameter)))
}

export function absentParameter({ series }: Station, names: readonly string[] = []): string | undefined {
  return names.find(name => !series.has(name as Parameter))
}

function metricOf(metrics: DescribedMetrics, name: Parameter, series: number | undefined): CustomMetric {
  const registered = metrics.get(name)
  const described = registered ?? catalogueEntry(name) ?? { title: name, kind: 'gauge', unit: null, decimals: 1 }
  return {
    name,
    ...descriptionOf(described),
    quality: registered?.quality ?? null,
    series,
    column: undefined,
    speed: undefined,
  }
}
