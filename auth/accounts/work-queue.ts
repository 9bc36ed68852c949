/**
 * Runs a few works at a time, lets a few more wait, and refuses the rest: a password hash takes 19 MiB and some ten
 * milliseconds of a processor. No account and no network takes all places. Of an account and a network one work runs at
 * a time, so that several right passwords at once are not taken for several guesses.
 */

import { TooBusy } from '../too-busy.ts'

/** Whom a work is for. */
export interface Asker {
  account: string
  network: string
}

export interface WorkQueue {
  run<Result>(asker: Asker, work: () => Promise<Result>): Promise<Result>
}

export interface WorkQueueOptions {
  runningMax: number
  waitingMax: number
  /** Of those that wait. */
  waitingOfAccountMax: number
}

interface Waiting {
  asker: Asker
  start: () => void
  refuse: (error: TooBusy) => void
}

export function createWorkQueue({ runningMax, waitingMax, waitingOfAccountMax }: WorkQueueOptions): WorkQueue {
  const running = new Set<Asker>()
  /** The oldest first. */
  const waiting: Waiting[] = []

  function canStart({ account, network }: Asker): boolean {
    return (
      running.size < runningMax && ![...running].some(other => other.account === account && other.network === network)
    )
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
    newest.refuse(tooBusy())
    return true
  }

  function startNext(): void {
    const at = waiting.findIndex(({ asker }) => canStart(asker))
    if (at < 0) return
    const [next] = waiting.splice(at, 1)
    if (next === undefined) return
    // The place is taken at once, so that nobody who comes now gets it first.
    running.add(next.asker)
    next.start()
  }

  async function takePlace(asker: Asker): Promise<void> {
    if (canStart(asker)) running.add(asker)
    else if (!hasPlaceFor(asker)) throw tooBusy()
    else await new Promise<void>((start, refuse) => waiting.push({ asker, start, refuse }))
  }

  return {
    async run({ account, network }, work) {
      const asker = { account, network }
      await takePlace(asker)
      try {
        return await work()
      } finally {
        running.delete(asker)
        startNext()
      }
    },
  }
}

function tooBusy(): TooBusy {
  return new TooBusy('too many requests wait', 1)
}
