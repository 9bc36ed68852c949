/** An import that stores nothing before its whole body has arrived and is accepted. Until then the records wait. */

import type { Series } from '../formats/row-kind.ts'
import type { Importer } from './import.ts'
import { type Append, failureOf, type ImportResult, type ImportSource, type RecordsOf } from './import-session.ts'
import { createSpool, type SpoolOptions } from './spool.ts'

/** A complete body, before any of it is stored. */
interface WholeBody extends RecordsOf, Pick<ImportResult, 'report' | 'digest'> {}

type Stored = Awaited<ReturnType<Append>>

export interface AllOrNothingOptions {
  importer: Pick<Importer, 'run'>
  /** The journal. */
  append: (records: Uint8Array, term: number) => Promise<Stored>
  /** See `WritePath.term`. */
  term: () => number
  /** True when the journal accepts this many bytes now. */
  hasRoom: (bytes: number) => boolean
  /** Has a body stored by `store`, or returns why not; `refused` where the body's own findings forbid it. */
  decide: (body: WholeBody, store: () => Promise<Stored>) => Promise<Stored | 'refused'>
  spool: SpoolOptions
}

/**
 * Nothing is stored of a rejected or failed body, and `accepted` is 0. Records of more than one group of the journal are not
 * stored atomically: when the process ends meanwhile, a part of an unanswered body is stored.
 */
export async function importAllOrNothing(
  source: ImportSource,
  { importer, append, term: termNow, hasRoom, decide, spool: spoolOptions }: AllOrNothingOptions,
): Promise<ImportResult> {
  const spool = createSpool(spoolOptions)
  const seriesByNumber = new Map<number, Series>()
  let oldestMs = Number.POSITIVE_INFINITY
  const collect: Append = async (records, of) => {
    for (const series of of.series) seriesByNumber.set(series.number, series)
    oldestMs = Math.min(oldestMs, of.oldestMs)
    return await spool.add(records)
  }
  async function store(): Promise<Stored> {
    // All of its parts were authorized at this time, however long they wait for each other.
    const term = termNow()
    return hasRoom(spool.bytes()) ? await spool.moveTo(records => append(records, term)) : 'full'
  }
  try {
    const { onStored, ...rest } = source
    const { report, failure, digest } = await importer.run({ ...rest, append: collect })
    const nothing = { ...report, accepted: 0, replaced: 0 }
    if (failure !== undefined) return { report: nothing, failure }
    const series = [...seriesByNumber.values()]
    const outcome = await decide({ report, digest, series, oldestMs }, store)
    if (outcome === 'refused') return { report: nothing }
    if (outcome !== 'stored') return { report: nothing, failure: failureOf(outcome) }
    onStored?.(series)
    return { report }
  } finally {
    await spool.close()
  }
}
