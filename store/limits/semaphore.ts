/**
 * A semaphore with a bounded queue: runs a few works at a time, lets a few more wait, and refuses the rest. No account and
 * no network takes all places. Of an account and a network one work runs at a time, so that several right passwords at once
 * are not taken for several guesses.
 */

import { Capacity } from './capacity.ts'

/** Whom a work is for. */
export interface Asker {
  account: string
  network: string
}

export interface Semaphore {
  run<Result>(asker: Asker, work: () => Promise<Result>): Promise<Result>
}

export interface SemaphoreOptions {
  runningMax: number
  waitingMax: number
  /** Of those that wait. */
  waitingOfAccountMax: number
  /** The error of a work that is refused. */
  refusal: () => Error
}

interface Waiting {
  asker: Asker
  start: () => void
  refuse: (error: Error) => void
}

export function createSemaphore(options: SemaphoreOptions): Semaphore {
  const { runningMax, waitingMax, waitingOfAccountMax, refusal } = options
  const running = new Capacity<Asker>({ max: runningMax })
  /** The oldest first. */
  const waiting: Waiting[] = []

  function tryStart(asker: Asker): boolean {
    // The name of a network has no space.
    const key = `${asker.network} ${asker.account}`
    return running.amountOf(key) === 0 && running.take(asker, [key])
  }

  /** Whoever is in the way of a newcomer gives way, if that is fair. */
  function hasPlaceFor(asker: Asker): boolean {
    const ofAccount = waiting.filter(other => other.asker.account === asker.account)
    if (ofAccount.length >= waitingOfAccountMax) return makePlace(ofAccount, asker)
    return waiting.length < waitingMax || makePlace(waiting, asker)
  }

  /** The network that has most of these places gives the newest to one that has at least two fewer. */
  function makePlace(among: readonly Waiting[], { network }: Asker): boolean {
    const counts = new Map([[network, 0]])
    for (const { asker } of among) counts.set(asker.network, (counts.get(asker.network) ?? 0) + 1)
    const [largest, count] = [...counts].reduce((one, other) => (other[1] > one[1] ? other : one))
    if (count < (counts.get(network) ?? 0) + 2) return false
    const newest = among.findLast(({ asker }) => asker.network === largest)
    if (newest === undefined) return false
    waiting.splice(waiting.indexOf(newest), 1)
    newest.refuse(refusal())
    return true
  }

  /** The place is taken at once, so that nobody who comes now gets it first. */
  function startNext(): void {
    const at = waiting.findIndex(({ asker }) => tryStart(asker))
    if (at >= 0) waiting.splice(at, 1)[0]?.start()
  }

  async function takePlace(asker: Asker): Promise<void> {
    if (tryStart(asker)) return
    if (!hasPlaceFor(asker)) throw refusal()
    await new Promise<void>((start, refuse) => waiting.push({ asker, start, refuse }))
  }

  return {
    async run({ account, network }, work) {
      const asker = { account, network }
      await takePlace(asker)
      try {
        return await work()
      } finally {
        running.release(asker)
        startNext()
      }
    },
  }
}
