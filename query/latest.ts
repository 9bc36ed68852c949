/**
 * The latest readings: every dashboard polls them, so a body is kept ready, built at most once a minute, and given out
 * while the next one is built.
 */

import type { Logger } from 'pino'
import type { Ask } from './asking.ts'
import { type Answer, answerOf, type Kept } from './body.ts'
import type { BodyCache } from './body-cache.ts'
import { encodeFleet, type QueryDevice } from './fleet.ts'
import type { QueryLimits } from './limits.ts'
import type { LatestQuestion } from './task.ts'

export interface LatestOptions {
  readonly ask: Ask
  readonly cache: BodyCache
  readonly now: () => number
  readonly limits: QueryLimits
  readonly log: Pick<Logger, 'error'>
}

export interface Latest {
  all(hours: number, devices: () => readonly QueryDevice[]): Answer | Promise<Answer>
  of(hours: number, devices: readonly QueryDevice[], client: AbortSignal): Answer | Promise<Answer>
}

interface Build {
  readonly key: string
  readonly hours: number
  readonly narrowed: boolean
  readonly fleet: () => string
  /** Whose leaving ends the build, when nobody else waits for it. */
  readonly client?: AbortSignal
}

export function createLatest({ ask, cache, now, limits, log }: LatestOptions): Latest {
  const textOf = rememberFleet()

  function all(hours: number, devices: () => readonly QueryDevice[]): Answer | Promise<Answer> {
    const key = `latest/${hours}`
    const kept = cache.get(key)
    return fresh(kept) ?? due({ key, hours, narrowed: false, fleet: () => textOf(devices()) }, kept)
  }

  function of(hours: number, devices: readonly QueryDevice[], client: AbortSignal): Answer | Promise<Answer> {
    const numbers = devices.map(device => device.number).sort((a, b) => a - b)
    const key = `latest/${hours}/${numbers.join()}`
    const kept = cache.get(key)
    return fresh(kept) ?? due({ key, hours, narrowed: true, fleet: () => encodeFleet(devices), client }, kept)
  }

  function fresh(kept: Kept | undefined): Answer | undefined {
    if (kept === undefined) return undefined
    return ageOf(kept) < limits.rebuildMs ? answerOf(kept, secondsLeft(kept)) : undefined
  }

  /** There is no body, or one that is due for the next. */
  function due(build: Build, kept: Kept | undefined): Answer | Promise<Answer> {
    if (kept === undefined) return start(build, undefined)
    if (isPausing(kept)) return answerOf(kept, 0)
    const answer = start(build, kept)
    if (ageOf(kept) > limits.staleMs) return answer
    answer.catch((error: unknown) => log.error({ err: error }, 'the latest readings could not be built'))
    return answerOf(kept, 0)
  }

  async function start(build: Build, kept: Kept | undefined): Promise<Answer> {
    const { key } = build
    // The body after this one is for everybody, whoever happened to ask first.
    const client = kept === undefined ? build.client : undefined
    const question = (askedAtMs: number) => questionOf(build, askedAtMs)
    const asked = await ask({ name: 'latest', key, revision: 0, question, client })
    if (asked.ok) return answerOf(asked.kept, secondsLeft(asked.kept))
    if (kept === undefined) return asked
    cache.set(key, { ...kept, retryAtMs: now() + limits.retryMs })
    return answerOf(kept, 0)
  }

  /** When the clock was set back, nothing is known about an age. */
  function ageOf(kept: Kept): number {
    const ageMs = now() - kept.askedAtMs
    return ageMs < 0 ? Number.POSITIVE_INFINITY : ageMs
  }

  /** Until the next body is due. */
  function secondsLeft(kept: Kept): number {
    return Math.max(0, Math.floor((limits.rebuildMs - ageOf(kept)) / 1000))
  }

  function isPausing({ retryAtMs = 0 }: Kept): boolean {
    const waitMs = retryAtMs - now()
    return waitMs > 0 && waitMs <= limits.retryMs
  }

  function questionOf({ hours, narrowed, fleet }: Build, nowMs: number): LatestQuestion {
    const startUs = (nowMs - hours * hourMs) * 1000
    return { fleet: fleet(), narrowed, nowUs: nowMs * 1000, startUs, endUs: (nowMs + limits.aheadMs) * 1000 }
  }

  return { all, of }
}

const hourMs = 3_600_000

/** The registry hands out one array until something changes, so its text is written once. */
function rememberFleet(): (devices: readonly QueryDevice[]) => string {
  let last: readonly QueryDevice[] | undefined
  let text = ''
  return devices => {
    if (devices !== last) {
      text = encodeFleet(devices)
      last = devices
    }
    return text
  }
}
