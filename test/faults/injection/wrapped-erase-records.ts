/** The end of an erase job, when its report says `done`. */

import type * as eraseRecords from '../../../lifecycle/erasure/erase-records.ts'
import { pass } from './fail-point.ts'
import { realModule } from './replacements.ts'

const real: typeof eraseRecords = await import(realModule(import.meta.url))

export const {
  insertJob,
  insertMetricJob,
  insertStationJob,
  noteDelay,
  noteValues,
  readErased,
  readMetricReport,
  readReport,
  readSeries,
  readStationReport,
  takeJob,
} = real

export async function endJob(...given: Parameters<typeof eraseRecords.endJob>): Promise<boolean> {
  const isEnded = await real.endJob(...given)
  pass('erase-done')
  return isEnded
}
