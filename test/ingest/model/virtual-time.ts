/** Virtual time that the test advances: hours pass at once, with the same order of events for the same history. */

import type { Timing } from '../../../ingest/timing.ts'

interface Timer {
  atMs: number
  work: () => void
}

export interface VirtualTime {
  nowMs: () => number
  after: Timing['after']
  /** Lets this much time pass: all that is due runs, in order. */
  advance(ms: number): Promise<void>
}

export function createVirtualTime(): VirtualTime {
  // Timers by time, then by creation.
  const timers: Timer[] = []
  let nowMs = 0

  function after(ms: number, work: () => void): () => void {
    const timer = { atMs: nowMs + Math.max(0, ms), work }
    const place = timers.findLastIndex(other => other.atMs <= timer.atMs)
    timers.splice(place + 1, 0, timer)
    return () => {
      const index = timers.indexOf(timer)
      if (index !== -1) timers.splice(index, 1)
    }
  }

  async function advance(ms: number): Promise<void> {
    const endMs = nowMs + ms
    await quiet()
    for (let next = timers[0]; next !== undefined && next.atMs <= endMs; next = timers[0]) {
      timers.shift()
      nowMs = next.atMs
      next.work()
      await quiet()
    }
    nowMs = endMs
  }

  return { nowMs: () => nowMs, after, advance }
}

/** Waits for work that needs no time: promises, and callbacks that were put off to the next turns of the loop. */
async function quiet(): Promise<void> {
  for (let turn = 0; turn < 3; turn++) await new Promise(resolve => setImmediate(resolve))
}
