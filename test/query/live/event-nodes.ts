/** Nodes that read the same topic, each at its own pace, and send its events; the records of the topic are made up. */

import { Registry } from 'prom-client'
import type { Test } from 'tap'
import { EventCursors } from '../../../query/live/events/event-cursor.ts'
import { EventHub, type HubOptions } from '../../../query/live/events/event-hub.ts'
import type { StoredReadings } from '../../../query/live/events/reading-ring.ts'
import { createEventMeter } from '../../../service/meters.ts'

/** Ids of records of one group are closer to each other. */
export const perGroup = 1000
const eventNames = ['porch', 'attic', 'cellar']
const topicId = 'one'

/** Its values count all readings of the topic. */
export interface MadeGroup {
  readonly offset: number
  readonly from: number
  readonly count: number
}

/** Groups of so many readings. */
export function madeTopic(counts: readonly number[], firstValue = 0): MadeGroup[] {
  let from = firstValue
  return counts.map((count, offset) => {
    const group = { offset, from, count }
    from += count
    return group
  })
}

export function cursorAt(position: number): string {
  return new EventCursors(topicId).text(position)
}

function storedOf({ offset, from, count }: MadeGroup, first: number, length: number): StoredReadings {
  let at = first - 1
  return {
    count: length,
    place: { position: offset * perGroup + first },
    next: () => ++at < Math.min(count, first + length),
    get series() {
      return (from + at) % eventNames.length
    },
    get timeUs() {
      return 1_780_000_000_000_000 + (from + at) * 1000
    },
    value: column => (column === 0 ? from + at : Number.NaN),
    customCount: offset === 39 ? 1 : 0,
    customSeries: () => 0,
    customValue: () => 0,
  }
}

/** A node that has read so many groups of the topic. */
export function openEventNode(
  t: Test,
  topic: readonly MadeGroup[],
  options: Partial<HubOptions> & { from?: number } = {},
) {
  const { from = 0, ...given } = options
  const clock = { ms: 0 }
  let read = from
  let next = from * perGroup
  const hub = new EventHub({
    cursors: new EventCursors(topicId),
    nextPosition: () => next,
    windowMs: 300_000,
    windowBytes: 1024 ** 2,
    nameOf: number => eventNames[number],
    ownerOf: () => undefined,
    tickMs: 1,
    nowMs: () => clock.ms,
    meter: createEventMeter(new Registry()),
    failed: error => t.fail(String(error)),
    ...given,
  })
  t.teardown(() => hub.close())

  /** The next group of the topic, in pieces, as a feed hands them over. */
  function read1(piece = perGroup): void {
    const offset = read
    const group = topic[offset]
    if (group === undefined) return
    for (let at = 0; at < group.count; at += piece) {
      const length = Math.min(piece, group.count - at)
      next = offset * perGroup + at + length
      hub.store(storedOf(group, at, length))
    }
    read = offset + 1
    next = (offset + 1) * perGroup
  }

  return {
    hub,
    clock,
    read1,
    readTo(offset: number) {
      while (read < offset) read1()
    },
    /** Groups up to this offset are gone. */
    missTo(offset: number) {
      read = offset
      next = offset * perGroup
      hub.missed()
    },
    hasReadAll: () => read === topic.length,
  }
}

export function connectTo({ hub }: { hub: EventHub }, last?: string, devices?: readonly number[]) {
  let text = ''
  const sink = {
    write: (bytes: Buffer) => {
      text += bytes.toString()
      return true
    },
    onDrained: () => undefined,
    destroy: () => undefined,
  }
  const leave = hub.subscribe(sink, { devices: devices && new Set(devices), owner: undefined, statesOnly: false }, last)
  return {
    leave,
    text: () => text,
    values: () => [...text.matchAll(/"temperature":(\d+)/g)].map(([, value]) => Number(value)),
    states: () => [...text.matchAll(/"state":"(\w+)"/g)].map(([, state]) => state),
    resets: () => text.split('event: reset').length - 1,
    lastId: () => [...text.matchAll(/^id: (.+)$/gm)].at(-1)?.[1],
  }
}

export const numbers = (to: number, from = 0) => Array.from({ length: to - from }, (_, index) => from + index)
