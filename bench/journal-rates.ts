/** The journal on a topic of one broker against the same journal on local segments, in turns: single readings, and batches. */

import { median } from 'simple-statistics'
import type { Bounds } from './bounds.ts'
import { type JournalRun, Ledger, type LoadOptions, loadBatches, loadReadings } from './journal-load.ts'
import { type BenchKafka, openLocalJournal, openTopicJournal, type ReadingsJournal } from './kafka-brokers.ts'
import { createHooks, ratios, round, spread } from './measure.ts'

export interface RatesOptions {
  pairs: number
  seconds: number
  rowsEach: number
}

const readingsInFlight = 64
const batchesInFlight = 4
const readingsMin = 0.25
const p50Max = 5
const batchesMin = 0.2
const warmSeconds = 1

export async function measureJournals(bounds: Bounds, kafka: BenchKafka, options: RatesOptions): Promise<void> {
  const single = await inTurns(kafka, 'bench-single', readingsInFlight, loadReadings, options)
  compareRates(bounds, 'journal on a topic, readings a second', single, readingsMin)
  const p50s = single.runs.map(({ ours }) => ours.p50Ms)
  const localP50s = single.runs.map(({ yardstick }) => yardstick.p50Ms)
  const all = ratios(p50s, localP50s)
  bounds.atMost('journal on a topic, p50, times on local segments', median(all), p50Max, {
    ratios: spread(all),
    p50Ms: spread(p50s),
    localP50Ms: spread(localP50s),
  })
  const { rowsEach } = options
  const loadRows = (load: LoadOptions) => loadBatches({ ...load, rowsEach })
  const batches = await inTurns(kafka, 'bench-batches', batchesInFlight, loadRows, options)
  compareRates(bounds, `journal on a topic, batches of ${rowsEach}, readings a second`, batches, batchesMin)
  bounds.must('all that the journals on a topic acknowledged is there, once', single.isWhole && batches.isWhole)
}

interface Turns {
  runs: { ours: JournalRun; yardstick: JournalRun }[]
  recordsPerGroup: number
  localRecordsPerGroup: number
  isWhole: boolean
}

function compareRates(bounds: Bounds, name: string, { runs, isWhole: _, ...groups }: Turns, min: number): void {
  const rates = runs.map(({ ours }) => ours.perSecond)
  const localRates = runs.map(({ yardstick }) => yardstick.perSecond)
  const all = ratios(rates, localRates)
  bounds.atLeast(`${name}, times on local segments`, median(all), min, {
    ratios: spread(all),
    perSecond: spread(rates),
    localPerSecond: spread(localRates),
    ...groups,
  })
}

async function inTurns(
  kafka: BenchKafka,
  topic: string,
  inFlight: number,
  load: (options: LoadOptions) => Promise<JournalRun>,
  { pairs, seconds }: RatesOptions,
): Promise<Turns> {
  const { hooks, closeAll } = createHooks()
  try {
    const { journal, partition } = await openTopicJournal(hooks, kafka, topic)
    const local = openLocalJournal(hooks)
    const [ledger, localLedger] = [new Ledger(), new Ledger()]
    const run = (of: ReadingsJournal, numbers: Ledger, forSeconds: number) => {
      const endMs = performance.now() + forSeconds * 1000
      return load({ journal: of, ledger: numbers, inFlight, isOver: () => performance.now() > endMs })
    }
    const runBoth = async (forSeconds: number) => {
      const ours = await run(journal, ledger, forSeconds)
      const yardstick = await run(local, localLedger, forSeconds)
      const refused = { ...ours.refused, ...yardstick.refused }
      if (Object.keys(refused).length > 0) throw new Error(`not all were taken: ${JSON.stringify(refused)}`)
      return { ours, yardstick }
    }
    await runBoth(warmSeconds)
    const runs: Turns['runs'] = []
    for (let pair = 0; pair < pairs; pair++) runs.push(await runBoth(seconds))
    return {
      runs,
      recordsPerGroup: recordsPerGroup(journal),
      localRecordsPerGroup: recordsPerGroup(local),
      isWhole: await ledger.isIn(partition),
    }
  } finally {
    await closeAll()
  }
}

function recordsPerGroup(journal: ReadingsJournal): number {
  const { records, groups } = journal.status()
  return round(records / groups)
}
