/**
 * Events for the readings in the ring. The texts of a tick are shared by all clients. A client that is behind gets
 * steps of its own.
 */

import { setImmediate as turn } from 'node:timers/promises'
import { createWatchers, type EventClient, type OwnerOf } from './event-client.ts'
import { type EventCursors, type EventText, type MetricOf, readingEvent } from './event-text.ts'
import type { ReadingRing } from './reading-ring.ts'

export interface TickTextsOptions extends ReadingTextsOptions {
  readonly ownerOf: OwnerOf
}

/** The most readings of a tick that are sent one by one; of more, clients get the last one of each device. */
export const readingsPerTick = 2_000
/** Readings that a client that is behind gets at a time, and how many are scanned for it. */
const readingsPerStep = 250
const lookedAtPerStep = 20_000

/** The readings between two numbers, for these clients. Each reading is visited once for all of them. */
export async function textsOfTick(
  options: TickTextsOptions,
  clients: readonly EventClient[],
  from: number,
  to: number,
): Promise<(client: EventClient) => EventText | undefined> {
  const { ring, ownerOf } = options
  const texts = createReadingTexts(options)
  const watchersOf = createWatchers(clients, ownerOf)
  const all: number[] = []
  const lists = new Map<EventClient, number[]>()
  for (let number = from; number < to; number++) {
    all.push(number)
    for (const client of watchersOf(ring.device(number))) {
      const list = lists.get(client)
      if (list === undefined) lists.set(client, [number])
      else list.push(number)
    }
  }
  const forAll = clients.some(client => client.isForAll) ? await texts.textOf(thinned(ring, all)) : undefined
  const own = new Map<EventClient, EventText>()
  for (const [client, list] of lists) own.set(client, await texts.textOf(thinned(ring, list)))
  return client => (client.isForAll ? forAll : own.get(client))
}

/** The next readings for a client that is behind `end`, and its new place. */
export async function textOfStep(
  options: TickTextsOptions,
  client: EventClient,
  end: number,
): Promise<{ next: number; text: EventText }> {
  const { ring } = options
  const { isSlow } = client
  const stepEnd = isSlow ? end : Math.min(end, client.next + lookedAtPerStep)
  const numbersMax = isSlow ? Number.POSITIVE_INFINITY : readingsPerStep
  const numbers: number[] = []
  let { next } = client
  for (; next < stepEnd && numbers.length < numbersMax; next++) {
    if (client.wantsReading(ring.device(next))) numbers.push(next)
  }
  const texts = createReadingTexts(options)
  return { next, text: await texts.textOf(isSlow ? thinned(ring, numbers, readingsPerStep) : numbers) }
}

function thinned(ring: ReadingRing, numbers: readonly number[], max = readingsPerTick): readonly number[] {
  return numbers.length > max ? lastOfEachDevice(ring, numbers) : numbers
}

interface ReadingTextsOptions {
  readonly cursors: EventCursors
  readonly ring: ReadingRing
  readonly nameOf: (device: number) => string | undefined
  readonly metricOf: MetricOf
}

interface ReadingTexts {
  /** The events of readings, by their numbers. Readings of removed devices are left out. */
  textOf(numbers: readonly number[]): Promise<EventText>
}

/** Readings that are written within a turn of the event loop. */
const textsPerTurn = 500

/** Readings of the ring as events, each written once for all clients of a tick. */
function createReadingTexts({ cursors, ring, nameOf, metricOf }: ReadingTextsOptions): ReadingTexts {
  const texts = new Map<number, string>()

  function written(number: number): string {
    // It may be overwritten while others are written.
    const device = number < ring.tail ? undefined : nameOf(ring.device(number))
    if (device === undefined) return ''
    return readingEvent(cursors.text(ring.position(number + 1)), ring, number, device, metricOf)
  }

  return {
    async textOf(numbers) {
      const parts: string[] = []
      let count = 0
      for (const number of numbers) {
        const text = texts.get(number) ?? written(number)
        parts.push(text)
        if (text !== '') count++
        texts.set(number, text)
        if (texts.size % textsPerTurn === 0) await turn()
      }
      return { bytes: Buffer.from(parts.join('')), count }
    },
  }
}

/** Keeps ascending order. */
function lastOfEachDevice(ring: ReadingRing, numbers: readonly number[]): number[] {
  const last = new Map<number, number>()
  for (const number of numbers) last.set(ring.device(number), number)
  return [...last.values()].sort((a, b) => a - b)
}

/** Runs work soon after it is requested, one run at a time. Requests meanwhile are merged into one run. */

interface TicksOptions {
  readonly tickMs: number
  /** Resolves with the milliseconds until the next run; undefined to wait for a request. */
  readonly work: () => Promise<number | undefined>
  /** Receives errors of the work. */
  readonly failed: (error: unknown) => void
}

export class Ticks {
  readonly #options: TicksOptions
  #isScheduled = false
  #isRunning = false
  #runsAgain = false
  #isClosed = false

  constructor(options: TicksOptions) {
    this.#options = options
  }

  wake(delayMs = this.#options.tickMs): void {
    if (this.#isScheduled || this.#isClosed) return
    this.#isScheduled = true
    setTimeout(() => {
      this.#isScheduled = false
      if (this.#isRunning) this.#runsAgain = true
      else void this.#run()
    }, delayMs).unref()
  }

  close(): void {
    this.#isClosed = true
  }

  async #run(): Promise<void> {
    this.#isRunning = true
    this.#runsAgain = false
    try {
      const nextMs = await this.#options.work()
      if (nextMs !== undefined) this.wake(nextMs)
      else if (this.#runsAgain) this.wake()
    } catch (error) {
      this.#options.failed(error)
    } finally {
      this.#isRunning = false
    }
  }
}
