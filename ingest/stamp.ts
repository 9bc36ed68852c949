/** The time of a reading that brings none: the moment of receipt, in microseconds, strictly increasing. */

import assert from 'node:assert/strict'

export interface Stamper {
  /** The next stamp, in epoch microseconds: above every one before, and never a whole millisecond. */
  next(): number
  /**
   * The receipt clock: the wall clock, but it never goes back. What was late once is late for good, or a later value for
   * the same time would take the quicker lane and be overtaken.
   */
  clockUs(): number
  /** The highest time so far; it goes into the journal, so that a restart with the clock set back repeats none. */
  highestUs(): number
}

export interface StamperOptions {
  /** The wall clock in epoch microseconds; may jump. */
  nowUs: () => number
  /** The highest stamp that the journal holds. */
  floorUs: number
  /** Processes side by side each take one residue of the microsecond, so that no two of them give the same stamp. */
  residue?: number
  modulus?: number
}

/**
 * Our stamps skip the whole milliseconds, because the clients' times are kept to the millisecond: so the two can never
 * meet in one row of the table.
 */
export function createStamper({ nowUs, floorUs, residue = 0, modulus = 1 }: StamperOptions): Stamper {
  assert(modulus < 1000 && residue < modulus, 'each residue holds a microsecond that is no whole millisecond')
  let highest = floorUs

  function next(): number {
    let stamp = Math.max(Math.floor(nowUs()), highest + 1)
    stamp += (residue - (stamp % modulus) + modulus) % modulus
    while (stamp % 1000 === 0) stamp += modulus
    highest = stamp
    return stamp
  }

  function clockUs(): number {
    highest = Math.max(Math.floor(nowUs()), highest)
    return highest
  }

  return { next, clockUs, highestUs: () => highest }
}

/**
 * The wall clock with microseconds: its milliseconds moved on by the monotonic clock, and set again when the two drift apart
 * by more than two milliseconds, as after a correction of the system's clock.
 */
export function createWallClockUs(nowMs = Date.now): () => number {
  let baseUs = nowMs() * 1000
  let baseMonotonicMs = performance.now()
  return () => {
    const wallUs = nowMs() * 1000
    const timeUs = baseUs + (performance.now() - baseMonotonicMs) * 1000
    if (Math.abs(timeUs - wallUs) <= 2000) return Math.floor(timeUs)
    baseUs = wallUs
    baseMonotonicMs = performance.now()
    return wallUs
  }
}
