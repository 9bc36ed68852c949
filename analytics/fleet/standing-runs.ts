/**
 * Finds gauges that stand still, by the extremes of stretches of six hours, because readings of a whole fleet are not
 * fetched. A gauge stands still when all stretches of the last day or more have one value, for three times as long as
 * ever in the days before.
 */

interface Extremes {
  readonly min: number
  readonly max: number
  /** Hours with a value. */
  readonly hours: number
}

interface Gauge {
  /** The last stretch with a value, and its state so far. */
  stretch: number
  min: number
  max: number
  hours: number
  /** Stretches of one value that end with the one before it, and their hours. */
  run: number
  runHours: number
  runValue: number
  /** The longest of the runs before. */
  longest: number
  /** Stretches with different values. */
  varied: number
}

export interface StandingRun {
  readonly value: number
  /** Number of the last stretches. */
  readonly stretches: number
}

const runMin = 4
const runTimes = 3
/** A run needs values in at least half of its hours, so in three of each stretch. */
const hoursMin = 3
/** Stretches of two days. */
const variedMin = 8

/** Stretches are added in ascending order, the parts of one in any order. */
export class StandingRuns {
  readonly #stretches: number
  readonly #gauges: (Gauge | undefined)[]

  constructor(gauges: number, stretches: number) {
    this.#stretches = stretches
    this.#gauges = new Array(gauges)
  }

  add(place: number, stretch: number, { min, max, hours }: Extremes): void {
    const known = this.#gauges[place]
    if (known === undefined) {
      this.#gauges[place] = {
        stretch,
        min,
        max,
        hours,
        run: 0,
        runHours: 0,
        runValue: Number.NaN,
        longest: 0,
        varied: 0,
      }
      return
    }
    if (known.stretch === stretch) {
      known.min = Math.min(known.min, min)
      known.max = Math.max(known.max, max)
      known.hours += hours
      return
    }
    const isNext = known.stretch === stretch - 1
    close(known)
    if (!isNext) endRun(known)
    Object.assign(known, { stretch, min, max, hours })
  }

  /** Undefined for a gauge that does not stand still. */
  standing(place: number): StandingRun | undefined {
    const known = this.#gauges[place]
    if (known === undefined || known.stretch !== this.#stretches - 1) return undefined
    const ended = { ...known }
    close(ended)
    const { run, runHours, runValue, longest, varied } = ended
    const isLong = run >= Math.max(runMin, runTimes * longest) && runHours >= hoursMin * run
    return isLong && varied >= variedMin ? { value: runValue, stretches: run } : undefined
  }
}

function close(gauge: Gauge): void {
  const { min, max, hours } = gauge
  if (min !== gauge.runValue || max !== gauge.runValue) endRun(gauge)
  if (min === max) {
    gauge.run++
    gauge.runHours += hours
    gauge.runValue = min
  } else gauge.varied++
}

function endRun(gauge: Gauge): void {
  gauge.longest = Math.max(gauge.longest, gauge.run)
  gauge.run = 0
  gauge.runHours = 0
  gauge.runValue = Number.NaN
}
