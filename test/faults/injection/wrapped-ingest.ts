/** Also the moments right behind an acknowledgement and around the start of an erase are ones to die at. */

import type * as ingest from '../../../ingest/ingest.ts'
import { pass } from './fail-point.ts'
import { realModule } from './replacements.ts'
import type { FaultRows } from './settings.ts'

const real: typeof ingest = await import(realModule(import.meta.url))

export function openIngest(options: ingest.IngestOptions): ingest.Ingest {
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
    erase: deadly(opened.erase, 'readings'),
  }
}

export function openPointsIngest(options: ingest.IngestOptions): ingest.PointsIngest {
  const opened = real.openPointsIngest(options)
  return {
    ...opened,
    async append(records) {
      const outcome = await opened.append(records)
      setImmediate(() => pass('after-ack', 'points'))
      return outcome
    },
    erase: deadly(opened.erase, 'points'),
  }
}

function deadly(erase: ingest.Ingest['erase'], rows: FaultRows): ingest.Ingest['erase'] {
  return async seriesNumbers => {
    pass('erase-begun', rows)
    const end = await erase(seriesNumbers)
    pass('erase-skipped', rows)
    return end
  }
}
