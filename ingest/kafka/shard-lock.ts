/**
 * One process at a time forwards a shard (store/postgres/held-lock): an older value that a second one sends could replace a newer
 * one. A successor also waits for QuestDB's answers (`quiesce`). A process that was frozen with a request half sent asks its
 * successor to send again when it goes on (`requestRewind` of shard-state.ts).
 *
 * While PostgreSQL is away nobody forwards: the lock is lost, and `acquireShard` tries until PostgreSQL is back.
 */

import type { Log } from '../../store/log.ts'
import { holdMs } from '../../store/postgres/held-lock/heartbeat.ts'
import { acquireLock, type HeldLock, type LockOptions } from '../../store/postgres/held-lock/held-lock.ts'
import { clearHolder, isLocked, raiseEpoch, shardRow, tryLock } from './shard-session.ts'
import type { ShardShare } from './shard-share.ts'
import type { ShardTenure } from './shard-state.ts'

export interface ShardLockOptions extends Pick<LockOptions<unknown>, 'connect'> {
  shard: string
  /** The name of this process, for people. */
  holder: string
  /** Of the process, which may hold other shards too; without it nothing is left to other processes. */
  share?: ShardShare | undefined
  log: Log
}

export interface HeldShard extends ShardTenure, Omit<HeldLock<unknown>, 'taken'> {
  /** The process that had the shard before and may still be sending, by its name; undefined when it gave the shard back. */
  predecessor: string | undefined
  /** How long to wait before the first request: `holdMs`, or nothing without a predecessor. */
  waitMs: number
}

/** Resolves when this process has the lock; rejects when the signal aborts, or with an error that waiting does not mend. */
export async function acquireShard(options: ShardLockOptions, signal: AbortSignal): Promise<HeldShard> {
  const { shard, holder, share, connect, log } = options
  const claim = share?.claim()
  const tellStandby = createStandbyLog(options)
  const { taken, ...held } = await acquireLock(
    {
      connect,
      async tryLock(session) {
        const row = await shardRow(session, shard)
        const mayTry = claim === undefined || claim.mayTry(await isLocked(session, row.number))
        if (mayTry && (await tryLock(session, row.number))) return true
        claim?.failed()
        tellStandby(row.holder)
        return false
      },
      take: session => raiseEpoch(session, shard, holder),
      giveBack: (session, { epoch }) => clearHolder(session, { shard, holder, epoch }),
    },
    signal,
  )
  const { epoch, predecessor } = taken
  log.info({ shard, epoch, predecessor }, 'shard acquired')
  return {
    ...held,
    shard,
    holder,
    epoch,
    predecessor,
    waitMs: predecessor === undefined ? 0 : holdMs,
    async release(isQuiet) {
      claim?.failed()
      await held.release(isQuiet)
    },
  }
}

/** Tells once of each holder that this process waits for it. */
function createStandbyLog({ shard, log }: ShardLockOptions): (holder: string | null) => void {
  let told: string | null = null
  return holder => {
    if (holder !== null && holder !== told) log.info({ shard, holder }, 'shard held by another process, standing by')
    told = holder
  }
}
