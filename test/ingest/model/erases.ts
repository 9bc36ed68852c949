/** Metrics of devices whose values are erased in the model, in the steps of service/lifecycle/erasure. */

import { erasedCustom } from '../../../ingest/journal/record.ts'
import type { ModelProcess } from './process.ts'
import type { SimulatedQuestdb } from './simulated-questdb.ts'
import type { VirtualTime } from './virtual-time.ts'

interface Erase {
  readonly series: number
  /** No record brings values to QuestDB any more. */
  isStopped: boolean
  /** None are there. */
  isDone: boolean
}

export type ModelErases = ReturnType<typeof createModelErases>

const retryMs = 1000

export function createModelErases(questdb: Pick<SimulatedQuestdb, 'away' | 'erase'>, time: VirtualTime) {
  const erases: Erase[] = []
  /** How often the values of a metric of a device were erased. */
  const counts = new Map<number, number>()

  const firstOf = (device: number, metric: number) => 100_000 * (device + 1) + 1000 * metric
  const countOf = (first: number) => counts.get(first) ?? 0
  /** A device that sends the metric again has it under another number. */
  const seriesOf = (device: number, metric: number) => firstOf(device, metric) + countOf(firstOf(device, metric))

  async function run(erase: Erase, by: ModelProcess): Promise<void> {
    const numbers = [erasedCustom(erase.series)]
    try {
      if (!erase.isStopped) {
        const end = await by.journal.endSeries(numbers)
        erase.isStopped = (await by.forwarder.erase(numbers, end)) !== undefined && by.isAlive
      }
    } catch {
      // The journal takes nothing at present.
    }
    if (!by.isAlive) return
    if (!erase.isStopped || questdb.away) {
      time.after(retryMs, () => by.isAlive && void run(erase, by))
      return
    }
    questdb.erase(erase.series)
    erase.isDone = true
  }

  return {
    seriesOf,
    /** The number that the series had. */
    begin(device: number, metric: number, by: ModelProcess): number {
      const series = seriesOf(device, metric)
      counts.set(firstOf(device, metric), countOf(firstOf(device, metric)) + 1)
      const erase = { series, isStopped: false, isDone: false }
      erases.push(erase)
      void run(erase, by)
      return series
    },
    /** A QuestDB that does not sync may have lost that they were erased. */
    resume(by: ModelProcess, mayHaveLost: boolean): ModelProcess {
      for (const erase of erases) {
        if (mayHaveLost) erase.isDone = false
        if (!erase.isDone) void run(erase, by)
      }
      return by
    },
    areDone: () => erases.every(({ isDone }) => isDone),
  }
}
