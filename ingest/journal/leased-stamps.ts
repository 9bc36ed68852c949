/** Maintains this process's leases of stamp classes where several processes share a topic. */

import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Log } from '../../store/log.ts'
import { StartError } from '../../store/start-error.ts'
import type { Stamper } from './stamp.ts'
import type { StampClassRows } from './stamp-classes.ts'
import { StampLease } from './stamp-lease.ts'

export interface LeasedStamps {
  readings: Stamper
  points: Stamper
  /** Releases the classes. Call it when no stamp is needed any more. */
  close(): Promise<void>
}

export interface LeasedStampsOptions {
  rows: StampClassRows
  nowUs: () => number
  log: Log
}

const renewEveryMs = 10_000
/** Also the interval while stamps are requested and no class is available. */
const pauseMsMin = 100

/** Rejects with a StartError where other processes have all classes. */
export async function openLeasedStamps({ rows, nowUs, log }: LeasedStampsOptions): Promise<LeasedStamps> {
  const closing = new AbortController()
  let awake = Promise.withResolvers<void>()
  const lease = new StampLease({ rows, holder: randomUUID(), nowUs, log }, 2, () => awake.resolve())
  const [readings, points] = lease.stampers as [Stamper, Stamper]
  let hasFailed = false

  const pause = (ms: number) => sleep(ms, undefined, { signal: closing.signal, ref: false }).catch(() => undefined)

  async function renew(): Promise<void> {
    try {
      await lease.renew()
      if (hasFailed) log.info({}, 'receive timestamps are reserved in PostgreSQL again')
      hasFailed = false
    } catch (error) {
      if (!hasFailed) log.warn({ err: error }, 'cannot reserve receive timestamps in PostgreSQL, retrying')
      hasFailed = true
    }
  }

  async function run(): Promise<void> {
    for (;;) {
      await Promise.race([awake.promise, pause(renewEveryMs)])
      if (closing.signal.aborted) return
      awake = Promise.withResolvers()
      await renew()
      await pause(pauseMsMin)
    }
  }

  await lease.renew()
  if (!lease.hasClasses()) {
    throw new StartError(
      'Other processes on this PostgreSQL hold all classes of receive timestamps (four each): stop one of them. ' +
        'Classes of a killed process are free after a minute.',
    )
  }
  // The first renewal took the classes, this one sets their bounds.
  await lease.renew()
  const running = run()
  return {
    readings,
    points,
    async close() {
      closing.abort()
      awake.resolve()
      await running
      // Their lease expires on its own.
      await lease.release().catch(() => undefined)
    },
  }
}
