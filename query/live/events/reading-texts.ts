/** Readings of the ring as events, each written once for all clients of a tick. */

import { setImmediate as turn } from 'node:timers/promises'
import type { EventCursors } from './event-cursor.ts'
import { type EventText, type MetricOf, readingEvent } from './event-text.ts'
import type { ReadingRing } from './reading-ring.ts'

export interface ReadingTextsOptions {
  readonly cursors: EventCursors
  readonly ring: ReadingRing
  readonly nameOf: (device: number) => string | undefined
  readonly metricOf: MetricOf
}

export interface ReadingTexts {
  /** The events of readings, by their numbers; those of a device that is not there any more are left out. */
  textOf(numbers: readonly number[]): Promise<EventText>
}

/** Readings that are written within a turn. */
const textsPerTurn = 500

export function createReadingTexts({ cursors, ring, nameOf, metricOf }: ReadingTextsOptions): ReadingTexts {
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

/** Ascending, as they are given. */
export function lastOfEachDevice(ring: ReadingRing, numbers: readonly number[]): number[] {
  const last = new Map<number, number>()
  for (const number of numbers) last.set(ring.device(number), number)
  return [...last.values()].sort((a, b) => a - b)
}
