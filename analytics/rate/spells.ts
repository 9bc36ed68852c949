/** Wet and dry spells: consecutive samples with a quantity at or above a threshold, or below it. A gap ends a spell. */

import { CompensatedSum } from '../compensated-sum.ts'
import { presentOf } from '../present.ts'
import { gapMarks } from '../reliability/gap-marks.ts'
import type { RateInput } from './bucket-sums.ts'

interface Spell {
  /** The times of its first and last sample. */
  readonly start_ms: number
  readonly end_ms: number
  readonly samples: number
  /** In the quantity's unit. */
  readonly sum: number
}

interface Spells {
  readonly wet_count: number
  readonly dry_count: number
  /** From the first sample to the last, the earliest of equal ones; null without any. */
  readonly longest_wet: Spell | null
  readonly longest_dry: Spell | null
}

/**
 * Samples have ascending times, with NaN for missing ones. Without a known interval every sample is a spell of its own.
 */
export function spells(input: Omit<RateInput, 'nowMs'>, wetFrom: number): Spells {
  const { timesMs, values } = presentOf(input.timesMs, input.values)
  const gaps = gapMarks(timesMs, input.cadence.stretches)
  const isWet = (index: number) => (values[index] as number) >= wetFrom
  const wet = new Longest()
  const dry = new Longest()
  let start = 0
  let sum = new CompensatedSum()
  for (let index = 0; index < timesMs.length; index++) {
    sum.add(values[index] as number)
    const isLast = index + 1 === timesMs.length || gaps[index + 1] === 1 || isWet(index + 1) !== isWet(index)
    if (!isLast) continue
    const spell = { start_ms: timesMs[start] as number, end_ms: timesMs[index] as number, samples: index + 1 - start }
    const longest = isWet(index) ? wet : dry
    longest.meet({ ...spell, sum: sum.total })
    start = index + 1
    sum = new CompensatedSum()
  }
  return { wet_count: wet.count, dry_count: dry.count, longest_wet: wet.spell, longest_dry: dry.spell }
}

class Longest {
  count = 0
  spell: Spell | null = null

  meet(spell: Spell): void {
    this.count++
    if (this.spell === null || lengthOf(spell) > lengthOf(this.spell)) this.spell = spell
  }
}

function lengthOf({ start_ms, end_ms }: Spell): number {
  return end_ms - start_ms
}
