/**
 * The time of a reading without one: the time of receipt, in microseconds. All stamps are unique, even when the clock is set
 * back, and over restarts.
 *
 * Each stamp belongs to one residue class of the microsecond, modulo ten, or fifty where several processes have separate classes
 * (stamp-lease.ts). Within a class stamps only ever increase, and classes are disjoint. While the clock runs normally one
 * class is in use, so all stamps increase. When the clock is set back, a class takes over whose highest stamp the clock has
 * passed: its stamps follow the clock at once and still increase within the class. A class whose stamps lie ahead can be used
 * again once the clock has passed them.
 *
 * Class 0 has the whole milliseconds and is reserved for clients, whose times are kept to the millisecond. So the two never share
 * a row, unless an import sends our own stamps back (`hasFineTime`). Nine classes are left, so the clock can be set back eight
 * times, each time behind all stamps since the last, before stamps run ahead of it. Ten microseconds from one stamp to the next
 * are 100,000 a second, several times the load of one process; beyond that stamps run ahead as well. In both cases they stay
 * unique.
 */

import { bug } from '../../store/limits/bug.ts'
import { clockStepUs } from './wall-clock.ts'

export const stampModulus = 10
const allResidues = [1, 2, 3, 4, 5, 6, 7, 8, 9] as const

/** State of all stamps assigned so far. */
export interface StampState {
  /** The class in use. Undefined before the first stamp. */
  residue: number | undefined
  /** The highest stamp of each class, by residue. */
  highestUs: readonly number[]
}

export interface Stamper {
  /** The next stamp, in epoch microseconds. Undefined while none may be assigned. */
  next(): number | undefined
  /** The last stamp. It goes into the journal, and its residue is the class. */
  lastUs(): number
  /** The highest stamp of all classes: ahead of the clock when that was ahead before. */
  highestUs(): number
  /** Reason why no stamp may be assigned. */
  issue?(): string | undefined
}

export interface ClassStamper extends Stamper {
  next(): number
  /** Each class continues above its value in `highestUs` of `StampState`. */
  raise(highestUs: readonly number[]): void
}

export interface StamperOptions {
  /** The wall clock in epoch microseconds, which may be set. */
  nowUs: () => number
  state: StampState
  /** Makes the state durable before the first stamp of another class. Returns false when that failed. */
  save: (state: StampState) => boolean
  /** Called with the lead of stamps over a clock that was set back more often than there are classes. */
  onExhausted: (aheadUs: number) => void
  /** Number of residue classes: a divisor of 1000. */
  modulus?: number
  /** Concurrent processes have disjoint ones. */
  residues?: readonly number[]
}

export function createStamper({
  nowUs,
  state,
  save,
  onExhausted,
  modulus = stampModulus,
  residues = allResidues,
}: StamperOptions): ClassStamper {
  const highest = [...state.highestUs]
  const highestOf = (residue: number) => highest[residue] ?? 0
  let residue = state.residue
  let last = 0
  /** Highest reading of the clock since the class was chosen. */
  let clockUs = 0
  let isWaiting = false

  function chooseResidue(now: number): number {
    const ascending = residues.toSorted((a, b) => highestOf(a) - highestOf(b))
    const passed = ascending.findLast(candidate => highestOf(candidate) <= now + clockStepUs)
    if (passed !== undefined) return passed
    // The clock has passed none. It passes the lowest first; among equally low ones the current class keeps its order.
    const lowest = ascending[0] as number
    const isAsLow = residue !== undefined && highestOf(residue) <= highestOf(lowest) + clockStepUs
    return isAsLow ? (residue as number) : lowest
  }

  /**
   * Chooses the class after a clock step. Of the passed classes it takes the highest: a clock that steps back and forth then
   * reuses the same classes.
   */
  function follow(now: number): number {
    const chosen = chooseResidue(now)
    const isSaved = chosen === residue || save({ residue: chosen, highestUs: highest })
    isWaiting = !isSaved && residue !== undefined
    const used = isWaiting ? (residue as number) : chosen
    residue = used
    clockUs = now
    last = highestOf(used)
    if (!isWaiting && last > now + clockStepUs) onExhausted(last - now)
    return used
  }

  follow(Math.floor(nowUs()))

  return {
    next() {
      const now = Math.floor(nowUs())
      // A class that could not be made durable is retried after a while.
      const isElsewhere = Math.abs(now - clockUs) > clockStepUs
      const used = isElsewhere ? follow(now) : (residue as number)
      if (!isWaiting && now > clockUs) clockUs = now
      const from = Math.max(now, last + 1)
      last = from + ((used - (from % modulus) + modulus) % modulus)
      if (last <= highestOf(used)) throw bug(`the stamp ${last} of class ${used} may have been given out before`)
      highest[used] = last
      return last
    },
    lastUs: () => last,
    highestUs: () => Math.max(...highest),
    raise(highestUs) {
      const lower = residues.filter(candidate => highestOf(candidate) < (highestUs[candidate] ?? 0))
      for (const candidate of lower) highest[candidate] = highestUs[candidate] ?? 0
      if (lower.length > 0) follow(Math.floor(nowUs()))
    },
  }
}
