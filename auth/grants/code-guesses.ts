/**
 * Prevents guessing of user codes. Each lookup counts as a wrong one before it runs, so that concurrent lookups do not
 * bypass the limits. A right code cancels it. Few lookups run at a time, so that concurrent right ones do not count as
 * guesses. Beyond the limits, lookups are refused. An account without wrong codes is not limited by others of its
 * network.
 */

import { type Asker, createSemaphore } from '../../store/limits/semaphore.ts'
import type { Log } from '../../store/log.ts'
import type { Outcome } from '../outcome.ts'
import type { RateLimit, RateLimits } from '../rate-limits.ts'
import { tooManyWait } from '../too-busy.ts'

export interface CodeGuesses {
  /** Runs the lookup of a code unless the limit of wrong codes is reached. The lookup refuses a wrong code. */
  run<Value>(who: Asker, lookUp: () => Promise<Outcome<Value>>): Promise<Outcome<Value>>
}

const windowMs = 300_000
const byAccount: RateLimit = { kind: 'user code by account', countMax: 10, windowMs }
const firstOfAccount: RateLimit = { kind: 'first user code', countMax: 1, windowMs }
const byNetwork: RateLimit = { kind: 'user code by network', countMax: 100, windowMs }
/** Limit over all accounts. It refuses nothing, but is logged once in a window. */
const byAll: RateLimit = { kind: 'user code', countMax: 1_000, windowMs }
const alarm: RateLimit = { kind: 'user code alarm', countMax: 1, windowMs }

const lookUpsMax = { runningMax: 2, waitingMax: 400, waitingOfAccountMax: 100 }

export function createCodeGuesses(limits: RateLimits, log: Log): CodeGuesses {
  const lookUps = createSemaphore({ ...lookUpsMax, refusal: tooManyWait })

  async function noteWrong(): Promise<void> {
    if ((await limits.take(byAll, '')) === undefined || (await limits.take(alarm, '')) !== undefined) return
    log.warn({ countMax: byAll.countMax, windowMs }, 'many wrong user codes: a client may be guessing them')
  }

  /** Cancels the count unless the lookup ran and the code was wrong. */
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
