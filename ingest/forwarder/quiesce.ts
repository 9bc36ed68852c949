/**
 * Waits until QuestDB can no longer be at work on a request that it left without an answer. If it took those rows after
 * newer ones with the same series and time, they would undo the newer ones.
 */

import type { Timing } from '../timing.ts'
import type { Sleeper } from './sleeper.ts'

export interface QuiesceOptions {
  /** A small query; throws when it does not answer. */
  query: () => Promise<unknown>
  sleeper: Sleeper
  timing: Timing
}

/** QuestDB is queried this often; an answer that takes longer is slow. */
const stepMs = 200
const slowAnswerMs = 1000
const waitMsMax = 60_000

/**
 * Until QuestDB has answered, promptly and again and again, for this long: what it was sent before on a connection that
 * is gone, it has taken or dropped by then. A process that stands still answers nothing. Where every answer is slow, a
 * minute must do.
 */
export async function quiesce({ query, sleeper, timing }: QuiesceOptions, ms: number): Promise<void> {
  const { monotonicMs } = timing
  const endMs = monotonicMs() + waitMsMax
  for (let promptMs = 0; promptMs < ms && !sleeper.stopped; promptMs += stepMs) {
    const queriedAtMs = monotonicMs()
    const answered = await query().then(
      () => true,
      () => false,
    )
    await sleeper.sleep(stepMs)
    const isSlow = monotonicMs() - queriedAtMs > slowAnswerMs && monotonicMs() < endMs
    if (!answered || isSlow) promptMs = -stepMs
  }
}
