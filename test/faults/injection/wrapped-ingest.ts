/** Also the moments right behind an acknowledgement and around the start of an erase are ones to die at. */

import type * as ingest from '../../../ingest/ingest.ts'
import { pass } from './fail-point.ts'
import { realModule } from './replacements.ts'

const real: typeof ingest = await import(realModule(import.meta.url))

export function openIngest(options: ingest.IngestOptions): ingest.Ingest {
  const opened = real.openIngest(options)
  return {
    ...opened,
    async accept(device, reading) {
      const outcome = await opened.accept(device, reading)
      setImmediate(() => pass('after-ack'))
      return outcome
    },
    async reserveStampsUs(count) {
      const stampsUs = await opened.reserveStampsUs(count)
      pass('stamp-reserved')
      return stampsUs
    },
    async acceptStamped(...given) {
      pass('key-claimed')
      const outcome = await opened.acceptStamped(...given)
      setImmediate(() => pass('after-ack'))
      return outcome
    },
    async erase(deviceNumbers) {
      pass('erase-begun')
      const end = await opened.erase(deviceNumbers)
      pass('erase-skipped')
      return end
    },
  }
}

export function openPointsIngest(options: ingest.IngestOptions): ingest.PointsIngest {
  const opened = real.openPointsIngest(options)
  return {
    ...opened,
    async append(records) {
      const outcome = await opened.append(records)
      setImmediate(() => pass('after-ack'))
      return outcome
    },
  }
}
