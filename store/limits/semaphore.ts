/**
 * A semaphore with a bounded queue: it runs a few works at a time, queues a few more and refuses the rest. An account or a network
 * cannot take all places. For each account and network one work runs at a time, so that several right passwords at once do not
 * count as guesses.
 */

import { Capacity } from './capacity.ts'

/** The client that requested a work. */
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
  /** Limit of the queued works of an account. */
  waitingOfAccountMax: number
  /** Creates the error of a refused work. */
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
    // The space separates the two: a network's name contains none.
    const key = `${asker.network} ${asker.account}`
    return running.amountOf(key) === 0 && running.take(asker, [key])
  }

  /** Evicts a queued work for a newcomer where that is fair. */
  function hasPlaceFor(asker: Asker): boolean {
    const ofAccount = waiting.filter(other => other.asker.account === asker.account)
    if (ofAccount.length >= waitingOfAccountMax) return makePlace(ofAccount, asker)
    return waiting.length < waitingMax || makePlace(waiting, asker)
  }

  /** The network with the most of these places yields its newest one to a network with at least two fewer. */
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

  /** The place is taken synchronously, so that a concurrent newcomer cannot get it first. */
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
