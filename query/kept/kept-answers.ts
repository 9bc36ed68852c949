/**
 * When an answer that is kept is still good enough, for all questions in one place: it is given as it is, or given while
 * the next one is built, or waited for; and when building fails, the one that is at hand is given.
 */

import type { Log } from '../../store/log.ts'
import type { QueryLimits } from '../limits.ts'
import { type Answer, type AnswerCode, answerOf, type Kept } from './body.ts'
import type { BodyCache } from './body-cache.ts'
import { createFlights } from './flights.ts'

export type Built =
  | { readonly ok: true; readonly body: Kept['body'] }
  | { readonly ok: false; readonly code: Exclude<AnswerCode, 'TOO_LARGE'> }

export interface KeptQuestion {
  /** Under this the answer is kept. */
  readonly key: string
  /**
   * What the answer depends on, read before it is asked for: an answer of the same version is right, however old. With
   * undefined it is never known to be right.
   */
  readonly version: string | undefined
  /** Any answer that is younger is given as it is. */
  readonly freshMs: number
  /** Any answer that is younger is given, and the next one is built behind. */
  readonly staleMs: number
  /** How long a client may go on using an answer that is given as it is. */
  readonly maxAgeSeconds: (ageMs: number) => number
  readonly build: (askedAtMs: number, signal: AbortSignal) => Promise<Built>
  /** Aborts when the client has left; without one an answer is built to its end. */
  readonly client?: AbortSignal | undefined
}

export type Give = (question: KeptQuestion) => Answer | Promise<Answer>

export interface KeptAnswersOptions {
  readonly cache: Pick<BodyCache, 'get' | 'set' | 'count'>
  readonly now: () => number
  readonly limits: Pick<QueryLimits, 'retryMs'>
  readonly log: Pick<Log, 'error'>
}

type Flown = { readonly ok: true; readonly kept: Kept } | Extract<Built, { ok: false }>

export function createKeptAnswers({ cache, now, limits, log }: KeptAnswersOptions): Give {
  const flights = createFlights<Flown>()
  /** Keys whose next answer is being built behind the last one. */
  const refreshing = new Set<string>()

  function give(question: KeptQuestion): Answer | Promise<Answer> {
    const kept = cache.get(question.key)
    const given = kept === undefined ? undefined : giveKept(question, kept)
    cache.count(given !== undefined)
    return given ?? wait(question, question.client)
  }

  /** Undefined when it is too old to be given. */
  function giveKept(question: KeptQuestion, kept: Kept): Answer | undefined {
    const ageMs = ageOf(kept)
    const isRight = question.version !== undefined && kept.version === question.version
    if (isRight || ageMs < question.freshMs) return answerOf(kept, question.maxAgeSeconds(ageMs), now())
    if (!isPausing(kept)) {
      if (ageMs >= question.staleMs) return undefined
      refresh(question)
    }
    return answerOf(kept, 0, now())
  }

  async function wait(question: KeptQuestion, client: AbortSignal | undefined): Promise<Answer> {
    const { key, version, maxAgeSeconds } = question
    const flown = await flights.join(`${key}@${version}`, signal => fly(question, signal), client)
    if (flown.ok) return answerOf(flown.kept, maxAgeSeconds(ageOf(flown.kept)), now())
    const kept = cache.get(key)
    return kept === undefined ? flown : answerOf(kept, 0, now())
  }

  /** Behind an answer that was given; the next one is for everybody, whoever happened to ask first. */
  function refresh(question: KeptQuestion): void {
    const { key } = question
    if (refreshing.has(key)) return
    refreshing.add(key)
    wait(question, undefined)
      .catch((error: unknown) => log.error({ err: error, key }, 'an answer could not be built'))
      .finally(() => refreshing.delete(key))
  }

  async function fly({ key, version, build }: KeptQuestion, signal: AbortSignal): Promise<Flown> {
    const askedAtMs = now()
    const before = cache.get(key)
    const built = await build(askedAtMs, signal)
    const kept = cache.get(key)
    if (built.ok) {
      const next: Kept = { body: built.body, askedAtMs, version }
      // Another flight, for a later version, may have been quicker.
      const isOvertaken = kept !== undefined && kept !== before && kept.askedAtMs > askedAtMs
      if (!isOvertaken) cache.set(key, next)
      return { ok: true, kept: next }
    }
    if (kept !== undefined && built.code !== 'CANCELLED') cache.set(key, { ...kept, retryAtMs: now() + limits.retryMs })
    return built
  }

  /** When the clock was set back, nothing is known about an age. */
  function ageOf(kept: Kept): number {
    const ageMs = now() - kept.askedAtMs
    return ageMs < 0 ? Number.POSITIVE_INFINITY : ageMs
  }

  /** After a failure the next try waits a little. */
  function isPausing({ retryAtMs = 0 }: Kept): boolean {
    const waitMs = retryAtMs - now()
    return waitMs > 0 && waitMs <= limits.retryMs
  }

  return give
}
