/**
 * A whole ingest path in virtual time: writer, recovery and forwarder on a simulated disk and network. Kills and power
 * cuts happen at any moment. The next process starts on the remaining data.
 */

import type { Disk } from '../../../ingest/journal/disk.ts'
import { erasedCustom } from '../../../ingest/journal/record.ts'
import { listSegments } from '../../../ingest/journal/segments.ts'
import type { Reading } from '../../../ingest/reading.ts'
import { createRandom } from '../../faults/seeded-random.ts'
import { createSimulatedDisk, type SimulatedDisk } from '../../faults/simulated-disk.ts'
import { device, reading } from '../../support/journal-parts.ts'
import { type ModelProcess, startProcess } from './process.ts'
import { createReference, type Handed, type Reference } from './reference.ts'
import { createSimulatedNetwork } from './simulated-network.ts'
import { createSimulatedQuestdb, type SimulatedQuestdb } from './simulated-questdb.ts'
import { createVirtualTime, type VirtualTime } from './virtual-time.ts'

interface Erase {
  readonly series: number
  /** No record brings values to QuestDB any more. */
  isStopped: boolean
  /** None are there. */
  isDone: boolean
}

type ModelErases = ReturnType<typeof createModelErases>

const retryMs = 1000

function createModelErases(questdb: Pick<SimulatedQuestdb, 'away' | 'erase'>, time: VirtualTime) {
  const erases: Erase[] = []
  /** Counts the erasures of a metric of a device. */
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

export interface Given {
  device: number
  /** The age of the measurement by the device. undefined leaves the time to us. */
  agoS: number | undefined
  /** Numbers of the metrics that the reading has a value of besides those with a column. */
  custom: readonly number[]
}

export const devicesMax = 4
export const customMax = 3

const startUs = Date.UTC(2026, 0, 1) * 1000
/** A process takes at least this long to be there again. */
const startMs = 700
/** Clients' times are this far apart, so that they meet. */
const gridMs = 10_000

export type World = ReturnType<typeof createWorld>

/** A `keepMs` above zero is a QuestDB without sync, which may lose even applied rows. */
export function createWorld(seed: number, keepMs: number) {
  const random = createRandom(seed)
  const time = createVirtualTime()
  const questdb = createSimulatedQuestdb(keepMs > 0 ? 'nosync' : 'sync')
  const network = createSimulatedNetwork(questdb, time, random)
  const reference = createReference()
  const trouble = { clockUs: 0, diskFaultShare: 0 }
  const wrongs: string[] = []
  /** Handed over and not answered. */
  const open = new Set<Handed>()
  const nowUs = () => startUs + time.nowMs() * 1000 + trouble.clockUs
  const erases = createModelErases(questdb, time)
  let disk = createSimulatedDisk(random)
  let values = 0
  let process = start()

  function start(): ModelProcess {
    const faultyDisk = { ...withFaults(disk, () => random.chance(trouble.diskFaultShare)), remove }
    const given = { disk: faultyDisk, connect: network.connect, keepMs, nowUs, time, random }
    return erases.resume(startProcess({ ...given, customSeries: allSeries(erases) }), keepMs > 0)
  }

  /** A segment goes when the table shows all that it holds, and not before. */
  function remove(name: string): void {
    const [start, next] = listSegments(disk).filter(position => position >= Number.parseInt(name, 10))
    const range = [start ?? 0, next ?? Number.POSITIVE_INFINITY] as const
    const early = reference.missing(questdb.table(), questdb.customTable(), range)
    wrongs.push(...early.map(key => `${key} was not applied when segment ${start} was removed`))
    disk.remove(name)
  }

  /** Readings of one moment. Their outcome is known when their group is on the disk. */
  function append(given: Given[]): void {
    const { journal } = process
    for (const one of given) {
      const entry = handedOf(one, ++values, nowUs(), erases)
      open.add(entry)
      journal.append(device(one.device), readingOf(entry), answer => {
        open.delete(entry)
        reference.hand(entry, answer, journal.status().end - 1)
      })
    }
  }

  async function restart(after: 'kill' | 'power cut'): Promise<void> {
    process.isAlive = false
    network.hangUp()
    for (const entry of open) reference.hand(entry, 'unknown', 0)
    open.clear()
    disk = disk.restart(random, after)
    await time.advance(startMs)
    process = start()
  }

  function killQuestdb(): void {
    network.kill()
    questdb.away = true
    if (keepMs === 0 || random.chance(0.5)) return
    questdb.lose(random.below(questdb.taken.length + 1))
    erases.resume(process, true)
  }

  return {
    time,
    questdb,
    network,
    trouble,
    append,
    eraseMetric: (device: number, metric: number) => reference.erase(erases.begin(device, metric, process)),
    restart,
    killQuestdb,
    wrongs: () => wrongs,
    /** All that the table shows wrongly once everything that QuestDB took is applied. */
    compare: () => compareTables(reference, questdb),
    status: () => process.status,
    isApplied: () => open.size === 0 && process.status?.applied === process.journal.status().end && erases.areDone(),
  }
}

async function compareTables(reference: Reference, questdb: SimulatedQuestdb): Promise<string[]> {
  await questdb.connect().query('wal_tables() are applied before they are shown')
  return reference.compare(questdb.table(), questdb.customTable())
}

/** The registry remembers the series over a restart. */
function allSeries({ seriesOf }: Pick<ModelErases, 'seriesOf'>): Uint32Array {
  const devices = Array.from({ length: devicesMax }, (_, device) => device)
  const metrics = Array.from({ length: customMax }, (_, metric) => metric)
  return Uint32Array.from(devices.flatMap(device => metrics.flatMap(metric => [device, seriesOf(device, metric)])))
}

function handedOf({ device: number, agoS, custom }: Given, value: number, atUs: number, erases: ModelErases): Handed {
  const series = custom.map(metric => erases.seriesOf(number, metric))
  const timestampMs = agoS === undefined ? undefined : clientTimeMs(atUs / 1000 - agoS * 1000)
  return { device: device(number).symbol, timestampMs, value, atUs, series }
}

function readingOf({ value, timestampMs, series }: Handed): Reading {
  return { ...reading(value, timestampMs), custom: { series, values: series.map(() => value) } }
}

const clientTimeMs = (timeMs: number) => Math.floor(timeMs / gridMs) * gridMs

/** Faults are the journal's own: its are the only files that are made and grow. */
function withFaults(disk: SimulatedDisk, fails: () => boolean): Disk {
  const { switches } = disk
  function failing(work: () => void): void {
    switches.fault = () => (fails() ? new Error('EIO') : undefined)
    try {
      work()
    } finally {
      switches.fault = () => undefined
    }
  }

  return {
    ...disk,
    open(name, create) {
      const file = disk.open(name, create)
      if (!create) return file
      return {
        ...file,
        write: (bytes, position) => failing(() => file.write(bytes, position)),
        sync: () => failing(() => file.sync()),
        truncate: length => failing(() => file.truncate(length)),
      }
    },
  }
}
