/** Hands over the devices of a removed account, in its transaction and then in memory. */

import type { Transaction } from '../../store/postgres/transaction.ts'
import type { ChangeFeed } from '../nodes/change-feed.ts'
import { ChangeInDoubt } from '../record-cache.ts'
import { TooBusy } from '../too-busy.ts'
import type { CommitOptions, Commits } from './commits.ts'
import { type DeviceRow, numbersOf } from './device-record.ts'
import { handOver } from './device-sql.ts'

/** Gives the devices of an account to the operator. */
type HandOver = (owner: number, by: string) => Promise<void>

/** Runs a transaction that may hand devices over. Rejects as transactions do. */
export type WithHandOver = <Value>(
  work: (transaction: Transaction, handOver: HandOver) => Promise<Value>,
) => Promise<Value>

export interface HandOverOptions extends Pick<CommitOptions, 'memory' | 'mutex' | 'reconciler'> {
  feed: ChangeFeed
  commits: Pick<Commits, 'inTurn' | 'transact'>
}

export function createHandOver({ memory, mutex, reconciler, feed, commits }: HandOverOptions): WithHandOver {
  return async work => {
    const done = await mutex.tryRun(async () => {
      if (!(await reconciler.reconcile())) throw new ChangeInDoubt('a change of a device is not confirmed')
      return await commits.inTurn(async () => {
        const { value, rows } = await commits.transact(async transaction => {
          const handedOver: DeviceRow[] = []
          const result = await work(transaction, async (owner, by) => {
            handedOver.push(...(await handOver(transaction, owner, by)))
          })
          feed.note(transaction, 'device', numbersOf(handedOver))
          return { value: result, rows: handedOver }
        })
        for (const row of rows) memory.apply(row)
        return { value }
      })
    })
    if (done === 'full') throw new TooBusy('too many pending changes of devices', 1)
    return done.value
  }
}
