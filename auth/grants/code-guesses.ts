/**
 * Keeps people from guessing user codes: wrong ones are counted by session and by network, and beyond the limits no
 * code is looked at. One look-up runs at a time, so that many at once are no way around the limits.
 */

import type { Log } from '../../store/log.ts'
import { createWorkQueue } from '../accounts/work-queue.ts'
import type { Outcome } from '../outcome.ts'
import type { RateLimit, RateLimits } from '../rate-limits.ts'

export interface CodeGuesses {
  /** Runs the look-up of a code, unless there were too many wrong ones. It refuses a wrong code. */
  run<Value>(who: { session: string; network: string }, lookUp: () => Promise<Outcome<Value>>): Promise<Outcome<Value>>
}

const windowMs = 300_000
const bySession: RateLimit = { kind: 'user code by session', countMax: 10, windowMs }
const byNetwork: RateLimit = { kind: 'user code by network', countMax: 10, windowMs }
/** Of all together. Nobody is refused for it, but the log says so, once in a window. */
const byAll: RateLimit = { kind: 'user code', countMax: 1_000, windowMs }
const alarm: RateLimit = { kind: 'user code alarm', countMax: 1, windowMs }

const waitingMax = 1_000

export function createCodeGuesses(limits: RateLimits, log: Log): CodeGuesses {
  const lookUps = createWorkQueue({ runningMax: 1, waitingMax })

  async function noteWrong(): Promise<void> {
    if ((await limits.take(byAll, '')) === undefined || (await limits.take(alarm, '')) !== undefined) return
    log.warn({ countMax: byAll.countMax, windowMs }, 'many wrong user codes: somebody may be guessing them')
  }

  return {
    run({ session, network }, lookUp) {
      const counts: [RateLimit, string][] = [
        [bySession, session],
        [byNetwork, network],
      ]
      return lookUps.run(async () => {
        for (const [limit, key] of counts) {
          const retryAfterSeconds = await limits.waitSeconds(limit, key)
          if (retryAfterSeconds !== undefined) return { ok: false, code: 'TOO_MANY_REQUESTS', retryAfterSeconds }
        }
        const found = await lookUp()
        if (found.ok) return found
        for (const [limit, key] of counts) await limits.take(limit, key)
        await noteWrong()
        return found
      })
    },
  }
}
