/** An import that stores nothing before all of its body has come in and may be stored: until then the records wait. */

import type { Series } from '../formats/row-kind.ts'
import type { Importer } from './import.ts'
import {
  type Append,
  type ImportReport,
  type ImportResult,
  type ImportSource,
  outcomeFailures,
} from './import-session.ts'
import { createSpool, type SpoolOptions } from './spool.ts'

export interface AllOrNothingOptions {
  importer: Pick<Importer, 'run'>
  append: Append
  /** Whether the journal takes so many bytes now. */
  hasRoom: (bytes: number) => boolean
  /** Whether a body of which this was found is stored. */
  mayStore: (report: ImportReport) => Promise<boolean>
  spool: SpoolOptions
}

/**
 * Of a body that may not be stored, or with a failure, nothing is stored and `accepted` is 0. Records of more than one
 * group of the journal are not stored at one moment: when the process ends meanwhile, a part of an unanswered body is there.
 */
export async function importAllOrNothing(
  source: ImportSource,
  { importer, append, hasRoom, mayStore, spool: spoolOptions }: AllOrNothingOptions,
): Promise<ImportResult> {
  const spool = createSpool(spoolOptions)
  const stored = new Map<number, Series>()
  const onStored = (all: readonly Series[]) => {
    for (const series of all) stored.set(series.number, series)
  }
  try {
    const { report, failure } = await importer.run({ ...source, append: spool.add, onStored })
    const nothing = { ...report, accepted: 0 }
    if (failure !== undefined) return { report: nothing, failure }
    if (!(await mayStore(report))) return { report: nothing }
    if (!hasRoom(spool.bytes())) return { report: nothing, failure: outcomeFailures.full }
    const outcome = await spool.moveTo(append)
    if (outcome !== 'stored') return { report: nothing, failure: outcomeFailures[outcome] }
    source.onStored?.([...stored.values()])
    return { report }
  } finally {
    await spool.close()
  }
}
