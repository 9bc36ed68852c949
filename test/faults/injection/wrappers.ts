/** Exports of the service's modules with the faults of this process. Each wraps the real module. */

import type * as claims from '../../../alerts/delivery/claim-rows.ts'
import type * as outcomes from '../../../alerts/delivery/outcome-rows.ts'
import type * as flush from '../../../alerts/outbox/flush-group.ts'
import type * as overflow from '../../../alerts/outbox/overflow.ts'
import type * as apply from '../../../alerts/store/apply.ts'
import type * as questdb from '../../../ingest/forwarder/questdb.ts'
import type * as ingest from '../../../ingest/ingest.ts'
import type * as disk from '../../../ingest/journal/disk.ts'
import type * as clock from '../../../service/clock.ts'
import type * as eraseRecords from '../../../service/lifecycle/erasure/erase-records.ts'
import type * as eraseRows from '../../../service/lifecycle/erasure/erase-rows.ts'
import { pointsTable } from '../../../store/tables.ts'
import { clockFileMs } from '../clock.ts'
import { withDiskFaults } from './disk-faults.ts'
import { faults, pass } from './fail-point.ts'
import type { FailPoint, FaultRows } from './settings.ts'

const startedMs = performance.now()

/** The offset of the clock, from a file or from jumps configured at the start. */
function clockOffsetMs(): number {
  const { FAULT_CLOCK: jumps = [], FAULT_CLOCK_FILE: file } = faults
  if (file !== undefined) return clockFileMs(file)
  const elapsedMs = performance.now() - startedMs
  return jumps.findLast(jump => jump.afterMs <= elapsedMs)?.offsetMs ?? 0
}

function passingAfter<Given extends unknown[], Made>(point: FailPoint, real: (...given: Given) => Promise<Made>) {
  return async (...given: Given): Promise<Made> => {
    const made = await real(...given)
    pass(point)
    return made
  }
}

function deadlyErase(erase: ingest.Ingest['erase'], rows: FaultRows): ingest.Ingest['erase'] {
  return async seriesNumbers => {
    pass('erase-begun', rows)
    const end = await erase(seriesNumbers)
    pass('erase-skipped', rows)
    return end
  }
}

export const wrappers = {
  openDisk(real: typeof disk): typeof disk.openDisk {
    return directory => withDiskFaults(real.openDisk(directory))
  },

  systemClock(real: typeof clock): clock.Clock {
    return () => real.systemClock() + clockOffsetMs()
  },

  /** A connection that kills the process between the request's last byte and the response, at different moments. */
  connectQuestdb(real: typeof questdb): typeof questdb.connectQuestdb {
    return (...given) => {
      const connection = real.connectQuestdb(...given)
      let writes = 0
      return {
        ...connection,
        async write(rows) {
          const timer = setTimeout(() => pass('after-forward'), writes++ % 4)
          const answer = await connection.write(rows)
          clearTimeout(timer)
          if (answer.kind === 'stored') pass('after-taken')
          return answer
        },
      }
    }
  },

  openIngest(real: typeof ingest): typeof ingest.openIngest {
    return options => {
      const opened = real.openIngest(options)
      return {
        ...opened,
        async accept(device, reading, reservedUs) {
          if (reservedUs !== undefined) pass('key-claimed', 'readings')
          const outcome = await opened.accept(device, reading, reservedUs)
          setImmediate(() => pass('after-ack', 'readings'))
          return outcome
        },
        async reserveStampsUs(count) {
          const stampsUs = await opened.reserveStampsUs(count)
          pass('stamp-reserved', 'readings')
          return stampsUs
        },
        erase: deadlyErase(opened.erase, 'readings'),
      }
    }
  },

  openPointsIngest(real: typeof ingest): typeof ingest.openPointsIngest {
    return options => {
      const opened = real.openPointsIngest(options)
      return {
        ...opened,
        async append(records) {
          const outcome = await opened.append(records)
          setImmediate(() => pass('after-ack', 'points'))
          return outcome
        },
        erase: deadlyErase(opened.erase, 'points'),
      }
    }
  },

  eraseRows(real: typeof eraseRows): typeof eraseRows.eraseRows {
    return async (...given) => {
      const txn = await real.eraseRows(...given)
      pass('erase-nulled', given[1].name === pointsTable ? 'points' : 'readings')
      return txn
    }
  },

  endJob: (real: typeof eraseRecords) => passingAfter('erase-done', real.endJob),

  applyTransitions(real: typeof apply): typeof apply.applyTransitions {
    return async (pool, given) => {
      if (given.transitions.length === 0) return await real.applyTransitions(pool, given)
      pass('alerts-found')
      let isWritten = false
      const applied = await real.applyTransitions(pool, {
        ...given,
        // The product calls it when alerts are written, before their notifications are.
        groupValueOf(rule, device) {
          if (!isWritten) pass('alerts-written')
          isWritten = true
          return given.groupValueOf(rule, device)
        },
      })
      pass('alerts-applied')
      return applied
    }
  },

  /** The transaction is not committed yet. */
  flushGroup: (real: typeof flush) => passingAfter('group-flushed', real.flushGroup),

  /** Notifications were created and committed directly before each check. */
  createOverflow(real: typeof overflow): typeof overflow.createOverflow {
    return (...given) => {
      const created = real.createOverflow(...given)
      return {
        ...created,
        check() {
          pass('notifications-made')
          return created.check()
        },
      }
    }
  },

  claimNext(real: typeof claims): typeof claims.claimNext {
    return async (...given) => {
      const claimed = await real.claimNext(...given)
      if (claimed !== undefined) pass('notification-claimed')
      return claimed
    }
  },

  noteOutcome(real: typeof outcomes): typeof outcomes.noteOutcome {
    return async (...given) => {
      pass('notification-sent')
      const noted = await real.noteOutcome(...given)
      pass('notification-noted')
      return noted
    }
  },
}
