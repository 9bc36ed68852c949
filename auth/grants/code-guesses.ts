/**
 * Keeps people from guessing user codes. Each look-up counts as a wrong one before the code is looked at, so that many
 * at once are no way around the limits; a right one takes that back. Few run at a time, so that many right ones at once
 * are not taken for guesses. Beyond the limits no code is looked at. An account without a wrong code of its own is not held
 * up by those of others behind its network.
 */

import { type Asker, createSemaphore } from '../../store/limits/semaphore.ts'
import type { Log } from '../../store/log.ts'
import type { Outcome } from '../outcome.ts'
import type { RateLimit, RateLimits } from '../rate-limits.ts'
import { tooManyWait } from '../too-busy.ts'

export interface CodeGuesses {
  /** Runs the look-up of a code, unless there were too many wrong ones. It refuses a wrong code. */
  run<Value>(who: Asker, lookUp: () => Promise<Outcome<Value>>): Promise<Outcome<Value>>
}

const windowMs = 300_000
const byAccount: RateLimit = { kind: 'user code by account', countMax: 10, windowMs }
const firstOfAccount: RateLimit = { kind: 'first user code', countMax: 1, windowMs }
const byNetwork: RateLimit = { kind: 'user code by network', countMax: 100, windowMs }
/** Of all together. Nobody is refused for it, but the log says so, once in a window. */
const byAll: RateLimit = { kind: 'user code', countMax: 1_000, windowMs }
const alarm: RateLimit = { kind: 'user code alarm', countMax: 1, windowMs }

const lookUpsMax = { runningMax: 2, waitingMax: 400, waitingOfAccountMax: 100 }

export function createCodeGuesses(limits: RateLimits, log: Log): CodeGuesses {
  const lookUps = createSemaphore({ ...lookUpsMax, refusal: tooManyWait })

  async function noteWrong(): Promise<void> {
    if ((await limits.take(byAll, '')) === undefined || (await limits.take(alarm, '')) !== undefined) return
    log.warn({ countMax: byAll.countMax, windowMs }, 'many wrong user codes: a client may be guessing them')
  }

  /** Takes back what was counted unless the look-up was made and the code was wrong. */
  async function counted<Value>(
    counts: readonly [RateLimit, string][],
    lookUp: () => Promise<Outcome<Value>>,
  ): Promise<Outcome<Value>> {
    let isWrong = false
    try {
      const found = await lookUp()
      isWrong = !found.ok
      return found
    } finally {
      if (isWrong) await noteWrong()
      else for (const [limit, key] of counts) await limits.giveBack(limit, key)
    }
  }

  async function guess<Value>(
    { account, network }: Asker,
    lookUp: () => Promise<Outcome<Value>>,
  ): Promise<Outcome<Value>> {
    const ofAccount = await limits.take(byAccount, account)
    if (ofAccount !== undefined) return tooMany(ofAccount)
    const isFirst = (await limits.take(firstOfAccount, account)) === undefined
    const ofNetwork = await limits.take(byNetwork, network)
    const counts: [RateLimit, string][] = [[byAccount, account]]
    if (isFirst) counts.push([firstOfAccount, account])
    if (ofNetwork === undefined) counts.push([byNetwork, network])
    if (ofNetwork === undefined || isFirst) return await counted(counts, lookUp)
    await limits.giveBack(byAccount, account)
    return tooMany(ofNetwork)
  }

  return { run: (who, lookUp) => lookUps.run(who, () => guess(who, lookUp)) }
}

function tooMany(retryAfterSeconds: number) {
  return { ok: false, code: 'TOO_MANY_REQUESTS', retryAfterSeconds } as const
}
