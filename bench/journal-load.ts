/** Readings straight into a journal, numbered by their temperature, and a ledger of those that were acknowledged. */

import { createHistogram, type RecordableHistogram } from 'node:perf_hooks'
import { groupHeaderLength, readGroup } from '../ingest/journal/group.ts'
import type { Outcome } from '../ingest/journal/outcome.ts'
import { offsetOf } from '../ingest/journal/record.ts'
import type { TopicPartition } from '../ingest/kafka/client/partition.ts'
import { readingLength, writeReading } from '../ingest/readings-table.ts'
import { appendInPieces } from '../ingest/write-path.ts'
import type { ReadingsJournal } from './kafka-brokers.ts'
import { sleep } from './measure.ts'
import { deviceOf, readingOf } from './rows.ts'

export interface JournalRun {
  acknowledged: number
  perSecond: number
  /** Percentiles of the time of an append. */
  p50Ms: number
  p99Ms: number
  /** The longest time between two acknowledgements. */
  pauseMs: number
  /** Appends with another outcome. */
  refused: Partial<Record<Outcome, number>>
}

/** Numbers of readings, and which of them were acknowledged. */
export class Ledger {
  #next = 0
  readonly #acknowledged: { from: number; count: number }[] = []

  /** The first of so many numbers. */
  take(count: number): number {
    const from = this.#next
    this.#next += count
    return from
  }

  acknowledge(from: number, count: number): void {
    this.#acknowledged.push({ from, count })
  }

  /** True if the topic has each acknowledged reading exactly once. */
  async isIn(partition: TopicPartition): Promise<boolean> {
    const found = new Uint8Array(this.#next)
    for await (const group of groupsOf(partition)) {
      for (const number of numbersIn(group)) found[number] = (found[number] ?? 0) + 1
    }
    for (const { from, count } of this.#acknowledged) {
      for (let number = from; number < from + count; number++) if (found[number] !== 1) return false
    }
    return found.every(times => times <= 1)
  }
}

const fetchBytes = 8 * 1024 * 1024
const fetchWaitMs = 1000

async function* groupsOf(partition: TopicPartition): AsyncGenerator<Buffer> {
  const { start, end } = await partition.offsets()
  for (let offset = start; offset < end; ) {
    const { records, nextOffset } = await partition.fetch(offset, fetchBytes, fetchWaitMs)
    for (const { value } of records) yield value
    offset = nextOffset
  }
}

function* numbersIn(group: Buffer): Generator<number> {
  if (readGroup(group, 0, 0) === undefined) throw new Error('the topic has a record that is not a group')
  const view = new DataView(group.buffer, group.byteOffset, group.byteLength)
  for (let at = groupHeaderLength; at < view.byteLength; at += view.getUint16(at + offsetOf.length, true)) {
    yield view.getFloat64(at + offsetOf.values, true)
  }
}

export interface LoadOptions {
  journal: ReadingsJournal
  ledger: Ledger
  /** Appends that wait at the same time. */
  inFlight: number
  isOver: () => boolean
}

const deviceCount = 1000
const rows = { count: 0, deviceCount, startUs: 0 }
const devices = Array.from({ length: deviceCount }, (_, index) => deviceOf(rows, index))
const refusedPauseMs = 10

/** Single readings. */
export function loadReadings({ journal, ledger, inFlight, isOver }: LoadOptions): Promise<JournalRun> {
  const values = readingOf(1)
  const append = () => {
    const number = ledger.take(1)
    const device = devices[number % deviceCount] ?? deviceOf(rows, 0)
    const reading = { ...values, temperature: number }
    return {
      number,
      outcome: new Promise<Outcome>(resolve => journal.append(device, reading, resolve)),
    }
  }
  return load({ inFlight, isOver, ledger, rowsEach: 1, append: () => append })
}

/** Batches of so many readings. */
export function loadBatches(options: LoadOptions & { rowsEach: number }): Promise<JournalRun> {
  const { journal, ledger, rowsEach } = options
  const append = () => {
    const batch = createBatch(rowsEach)
    return () => {
      const number = ledger.take(rowsEach)
      return { number, outcome: appendInPieces(journal, batch(number)) }
    }
  }
  return load({ ...options, append })
}

/** The same records with other numbers each time, so that hardly any time goes into making them. */
function createBatch(rowsEach: number): (first: number) => Uint8Array {
  const timeUs = Date.now() * 1000
  const lengths = Array.from({ length: rowsEach }, (_, index) => readingLength(deviceOf(rows, index)))
  const bytes = new Uint8Array(lengths.reduce((sum, length) => sum + length, 0))
  const view = new DataView(bytes.buffer)
  let end = 0
  const starts = lengths.map((_, index) => {
    const start = end
    end = writeReading(view, start, deviceOf(rows, index), timeUs + index, false, readingOf(index))
    return start
  })
  return first => {
    starts.forEach((start, index) => {
      view.setFloat64(start + offsetOf.values, first + index, true)
    })
    return bytes
  }
}

interface Appended {
  number: number
  outcome: Promise<Outcome>
}

interface Loop extends Pick<LoadOptions, 'inFlight' | 'isOver' | 'ledger'> {
  rowsEach: number
  /** Creates one appender for each append in flight. */
  append: () => () => Appended
}

async function load({ inFlight, isOver, ledger, rowsEach, append }: Loop): Promise<JournalRun> {
  const latencies: RecordableHistogram = createHistogram()
  const refused: JournalRun['refused'] = {}
  const startedMs = performance.now()
  let [lastMs, pauseMs, acknowledged] = [startedMs, 0, 0]

  async function drive(appendOne: () => Appended): Promise<void> {
    while (!isOver()) {
      const fromMs = performance.now()
      const { number, outcome } = appendOne()
      const became = await outcome
      if (became !== 'stored') {
        refused[became] = (refused[became] ?? 0) + 1
        await sleep(refusedPauseMs)
        continue
      }
      const nowMs = performance.now()
      pauseMs = Math.max(pauseMs, nowMs - lastMs)
      lastMs = nowMs
      latencies.record(Math.max(1, Math.round((nowMs - fromMs) * 1000)))
      ledger.acknowledge(number, rowsEach)
      acknowledged += rowsEach
    }
  }

  await Promise.all(Array.from({ length: inFlight }, () => drive(append())))
  return {
    acknowledged,
    perSecond: (acknowledged / (performance.now() - startedMs)) * 1000,
    p50Ms: latencies.percentile(50) / 1000,
    p99Ms: latencies.percentile(99) / 1000,
    pauseMs,
    refused,
  }
}
