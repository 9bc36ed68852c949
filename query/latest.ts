/**
 * The latest readings. Every dashboard polls them, so a body is cached, built at most once a minute, and served while
 * the next one is built.
 */

import type { Answer } from './cache/body.ts'
import type { Serve } from './cache/response-cache.ts'
import { encodeFleet, namedInSqlMax, type QueryDevice } from './fleet.ts'
import type { QueryLimits } from './limits.ts'
import type { LatestQuery } from './queries.ts'
import type { RunQuery } from './run-query.ts'

export interface LatestOptions {
  readonly runQuery: RunQuery
  readonly serve: Serve
  readonly fleetText: (devices: readonly QueryDevice[]) => string
  readonly setKey: (devices: readonly QueryDevice[]) => string
  readonly limits: QueryLimits
}

export interface Latest {
  all(hours: number, devices: () => readonly QueryDevice[]): Answer | Promise<Answer>
  of(hours: number, devices: readonly QueryDevice[], client: AbortSignal): Answer | Promise<Answer>
  /** Drops all answers that were built before or are being built. */
  deviceRemoved(): void
}

interface Wanted {
  readonly key: string
  readonly hours: number
  readonly narrowed: boolean
  readonly fleet: () => string
  readonly client?: AbortSignal
}

const hourMs = 3_600_000

export function createLatest({ runQuery, serve, fleetText, setKey, limits }: LatestOptions): Latest {
  /** Part of each key, so that a build that includes a removed device is not found later. */
  let removals = 0

  function all(hours: number, devices: () => readonly QueryDevice[]): Answer | Promise<Answer> {
    return latest({
      key: `latest/${hours}`,
      hours,
      narrowed: false,
      fleet: () => fleetText(devices()),
    })
  }

  function of(hours: number, devices: readonly QueryDevice[], client: AbortSignal): Answer | Promise<Answer> {
    const key = `latest/${hours}/${setKey(devices)}`
    const narrowed = devices.length <= namedInSqlMax
    return latest({ key, hours, narrowed, fleet: () => encodeFleet(devices), client })
  }

  function latest({ key, client, ...wanted }: Wanted): Answer | Promise<Answer> {
    return serve({
      key: `${key}@${removals}`,
      // It depends on the moment and on every device.
      version: undefined,
      freshMs: limits.rebuildMs,
      staleMs: limits.staleMs,
      maxAgeSeconds: ageMs => Math.max(0, Math.floor((limits.rebuildMs - ageMs) / 1000)),
      build(askedAtMs, signal) {
        return runQuery('latest', () => queryOf(wanted, askedAtMs), signal)
      },
      client,
    })
  }

  function queryOf(
    { hours, narrowed, fleet }: Pick<Wanted, 'hours' | 'narrowed' | 'fleet'>,
    nowMs: number,
  ): LatestQuery {
    const startUs = (nowMs - hours * hourMs) * 1000
    return { fleet: fleet(), narrowed, nowUs: nowMs * 1000, startUs, endUs: (nowMs + limits.aheadMs) * 1000 }
  }

  return {
    all,
    of,
    deviceRemoved() {
      removals += 1
    },
  }
}
