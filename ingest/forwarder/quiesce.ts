/**
 * Waits until QuestDB can no longer be processing an unanswered request. Rows accepted after newer ones with the same series and
 * time would undo them.
 */

import type { Timing } from '../timing.ts'
import type { Sleeper } from './sleeper.ts'

export interface QuiesceOptions {
  /** A small query. Throws when QuestDB does not answer. */
  query: () => Promise<unknown>
  sleeper: Sleeper
  timing: Timing
}

/** Interval of the queries. A slower answer counts as slow. */
const stepMs = 200
const slowAnswerMs = 1000
const waitMsMax = 60_000

/**
 * Waits until QuestDB has answered promptly and repeatedly for this long: by then it has accepted or dropped everything sent
 * before on a closed connection. A stopped process answers nothing. Where every answer is slow, one minute suffices.
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
