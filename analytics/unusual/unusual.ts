/**
 * Finds episodes in which a gauge behaved unlike its own last four weeks. Each hour's mean has a residual: its distance
 * from the median of the same hour of the 28 days before, or of the weeks before for a weekly cycle. The means of the
 * residuals of the last 3, 12 and 24 hours are each compared with the 28 days before: z is the distance from their
 * median in units of the larger of 1.4826 MAD and the 95 % point of the distances over 1.96.
 *
 * An episode begins at a z of 6; at more where the residuals have a long memory, because four weeks then have few
 * independent values. It also begins where a residual jumps by more than usual, and by more than ever at that hour, and
 * stays there for three hours. It ends after a day below 3. Only the past is used, without the hours of episodes; after
 * 14 days of an episode, the new level is the usual one.
 */

import { correctedMemory } from '../correlation/autocorrelation.ts'
import { usualSize } from '../quality/sensor-limits.ts'
import { quantilesInPlace } from '../summary/quantile.ts'

export interface UnusualInput {
  /** Means of hours, NaN where missing; local hours 0 … 23 for each cell. */
  readonly hourly: Float64Array
  readonly localHours: Uint8Array
  /** The sensor's resolution; 0 while unknown. */
  readonly quantum: number
}

export interface UnusualEpisode {
  /** Indexes of its first and last hour. */
  readonly from: number
  readonly to: number
  /** The hour at whose end it was detected. */
  readonly foundAt: number
  /** It continues at the end. */
  readonly isOpen: boolean
  /** The mean of its hours, and the usual range of that mean. */
  readonly value: number
  readonly expected: readonly [number, number]
}

export interface Unusual {
  readonly episodes: readonly UnusualEpisode[]
  /** The usual range of each hour; NaN where unknown. */
  readonly low: Float64Array
  readonly high: Float64Array
}

const dayHours = 24
const historyDays = 28
const historyHours = historyDays * dayHours
/** Less than two weeks cannot be judged. */
export const unusualDaysMin = 14
const referenceMin = 7 * dayHours
const windows = [3, 12, dayHours] as const
const [shortest] = windows
const begins = 6
const ends = 3
/** Factor by which 1/n of independent values raises the threshold of the beginning. */
const fewValues = 8
/**
 * Threshold relative to the extrapolated 99.9 % point of hourly changes, and the share that must remain after three
 * hours.
 */
const jumpTimes = 1.4
const jumpLeft = 0.5
/** Share of the jump that must be outside the usual range, to exclude a return into it. */
const jumpAway = 0.25
const hourTimes = 2
const episodeHoursMax = 14 * dayHours
const normalMad = 1.4826
/** 95 % of a normal distribution are within this many standard deviations. */
const middle95 = 1.96
/** Half the width of the usual band, in standard deviations. */
const bandWidth = 2

interface Reference {
  readonly centre: number
  readonly scale: number
}

interface References {
  readonly byWindow: readonly (Reference | undefined)[]
  readonly ofHours: Reference | undefined
  readonly begins: number
  /** A larger change from one hour to the next is a jump. */
  readonly jump: number
}

/** Hours before `from` are history, and not judged. */
export function unusualOf(input: UnusualInput, from = 0): Unusual {
  const watch = new Watch(input)
  for (let at = 0; at < input.hourly.length; at++) watch.take(at, at >= from)
  return watch.end()
}

/** The shift at an hour, after its detection; 0 where it is not unusual. */
export function unusualShift(episodes: readonly UnusualEpisode[], hour: number): number {
  const episode = episodes.find(({ foundAt, to }) => hour >= foundAt && hour <= to)
  return episode === undefined ? 0 : shiftOf(episode)
}

export function shiftOf({ value, expected: [low, high] }: Pick<UnusualEpisode, 'value' | 'expected'>): number {
  return value - (low + high) / 2
}

/** The difference of an hour from the same hours before, one period apart. */
class Track {
  readonly usual: Float64Array
  readonly rest: Float64Array
  readonly means: readonly Float64Array[]
  readonly #input: UnusualInput
  readonly #days: readonly number[]
  readonly #sorted = new Float64Array(historyDays)

  /** `periodDays`: a day or a week. */
  constructor(input: UnusualInput, periodDays: number) {
    const missing = () => new Float64Array(input.hourly.length).fill(Number.NaN)
    this.#input = input
    this.usual = missing()
    this.rest = missing()
    this.means = windows.map(missing)
    this.#days = Array.from({ length: historyDays / periodDays }, (_, period) => periodDays * (period + 1))
  }

  take(at: number, historyFrom: number, isLeftOut: Uint8Array): void {
    const usual = this.#usualAt(at, historyFrom, isLeftOut)
    this.usual[at] = usual
    this.rest[at] = (this.#input.hourly[at] as number) - usual
    this.#takeMeans(at)
  }

  /** One walk back fills all windows. */
  #takeMeans(at: number): void {
    let [sum, count, hours] = [0, 0, 0]
    for (let window = 0; window < windows.length; window++) {
      const length = windows[window] as number
      for (; hours < length; hours++) {
        const value = at < hours ? Number.NaN : (this.rest[at - hours] as number)
        if (Number.isNaN(value)) continue
        sum += value
        count++
      }
      ;(this.means[window] as Float64Array)[at] = 2 * count >= length ? sum / count : Number.NaN
    }
  }

  /** The median of the same hour of the days before; NaN with fewer than seven of them, or two weeks. */
  #usualAt(at: number, historyFrom: number, isLeftOut: Uint8Array): number {
    const { hourly, localHours } = this.#input
    const sorted = this.#sorted
    let count = 0
    for (const day of this.#days) {
      const same = at - day * dayHours
      // Where the clocks have changed since, the same hour is one off.
      const off = (((localHours[at] as number) - (localHours[same] ?? 0) + 36) % dayHours) - 12
      const place = same + off
      if (place < historyFrom) break
      const value = hourly[place] as number
      if (Number.isNaN(value) || isLeftOut[place] === 1) continue
      let rank = count++
      for (; rank > 0 && (sorted[rank - 1] as number) > value; rank--) sorted[rank] = sorted[rank - 1] as number
      sorted[rank] = value
    }
    if (4 * count < this.#days.length || count < 2) return Number.NaN
    return ((sorted[(count - 1) >> 1] as number) + (sorted[count >> 1] as number)) / 2
  }
}

class Watch {
  readonly #input: UnusualInput
  readonly #daily: Track
  /** Undefined until there has been a weekly cycle. */
  #weekly: Track | undefined
  /** 1 for hours of an episode. */
  readonly #isLeftOut: Uint8Array
  readonly #low: Float64Array
  readonly #high: Float64Array
  readonly #episodes: UnusualEpisode[] = []
  #track: Track
  #historyFrom: number
  #references: References | undefined
  #open: { from: number; foundAt: number; lastHigh: number } | undefined

  constructor(input: UnusualInput) {
    const { length } = input.hourly
    this.#input = input
    this.#daily = new Track(input, 1)
    this.#track = this.#daily
    this.#low = new Float64Array(length).fill(Number.NaN)
    this.#high = new Float64Array(length).fill(Number.NaN)
    this.#isLeftOut = new Uint8Array(length)
    this.#historyFrom = input.hourly.findIndex(value => !Number.isNaN(value))
  }

  take(at: number, isJudged: boolean): void {
    if (this.#historyFrom < 0 || at < this.#historyFrom) return
    for (const track of this.#tracks()) track.take(at, this.#historyFrom, this.#isLeftOut)
    if (!isJudged || at - this.#historyFrom < unusualDaysMin * dayHours) return
    // Recomputed once a night: the usual values change little in a day.
    if (this.#references === undefined || this.#input.localHours[at] === 0) this.#references = this.#referencesAt(at)
    this.#judge(at, this.#references)
  }

  end(): Unusual {
    this.#close(true)
    return { episodes: this.#episodes, low: this.#low, high: this.#high }
  }

  #tracks(): Track[] {
    return this.#weekly === undefined ? [this.#daily] : [this.#daily, this.#weekly]
  }

  #referencesAt(at: number): References {
    const from = Math.max(this.#historyFrom, at - historyHours)
    const known = (values: Float64Array) => this.#known(values, from, at)
    if (this.#open === undefined) this.#track = this.#trackAt(from, at)
    const rest = known(this.#track.rest)
    const changes = new Float64Array(Math.max(0, rest.length - 1))
    for (let place = 0; place < changes.length; place++) {
      changes[place] = Math.abs((rest[place + 1] as number) - (rest[place] as number))
    }
    const jump = jumpTimes * Math.max(usualSize(changes), quantilesInPlace(changes, [0.99])[0] as number)
    const { quantum } = this.#input
    return {
      byWindow: this.#track.means.map(means => referenceOf(known(means), quantum)),
      ofHours: referenceOf(rest.slice(), quantum),
      begins: begins * (1 + fewValues / independentOf(rest)),
      jump: Math.max(jump, begins * quantum),
    }
  }

  /** The weekly track if the series has a weekly cycle and two weeks are known. */
  #trackAt(from: number, at: number): Track {
    if (!hasWeek(this.#input.hourly.subarray(from, at))) return this.#daily
    if (this.#weekly === undefined) {
      this.#weekly = new Track(this.#input, 7)
      for (let place = this.#historyFrom; place <= at; place++) {
        this.#weekly.take(place, this.#historyFrom, this.#isLeftOut)
      }
    }
    return this.#known(this.#weekly.rest, from, at).length >= 2 * referenceMin ? this.#weekly : this.#daily
  }

  /** Existing values outside episodes. */
  #known(values: Float64Array, from: number, to: number): Float64Array {
    const found = new Float64Array(to - from)
    let count = 0
    for (let place = from; place < to; place++) {
      const value = values[place] as number
      if (!Number.isNaN(value) && this.#isLeftOut[place] === 0) found[count++] = value
    }
    return found.subarray(0, count)
  }

  #judge(at: number, references: References): void {
    const { byWindow, ofHours } = references
    if (ofHours !== undefined) {
      const middle = (this.#track.usual[at] as number) + ofHours.centre
      this.#low[at] = middle - bandWidth * ofHours.scale
      this.#high[at] = middle + bandWidth * ofHours.scale
    }
    const scores = byWindow.map((reference, window) => {
      const mean = this.#track.means[window]?.[at] as number
      return reference === undefined || Number.isNaN(mean) ? 0 : Math.abs(mean - reference.centre) / reference.scale
    })
    const window = scores.findIndex(score => score >= references.begins)
    if (this.#open === undefined) {
      if (window >= 0) this.#begin(this.#startIn(at, windows[window] as number, byWindow[window] as Reference), at)
      else if (this.#hasJumped(at, references)) this.#begin(at - shortest + 1, at)
      return
    }
    this.#isLeftOut[at] = 1
    if (Math.max(...scores) >= ends) this.#open.lastHigh = at
    if (at - this.#open.lastHigh >= dayHours) this.#close(false)
    else if (at - this.#open.from >= episodeHoursMax) this.#becomeUsual(at)
  }

  /** Away from the usual value of three hours ago, further than ever at that hour, and still there. */
  #hasJumped(at: number, { jump, ofHours }: References): boolean {
    const { rest } = this.#track
    const first = at - shortest + 1
    const before = rest[first - 1] as number
    const change = (rest[first] as number) - before
    if (ofHours === undefined || !(jump > 0 && Math.abs(change) > Math.max(jump, this.#changeAtHour(first))))
      return false
    const isFar = (value: number) => {
      return (value - before) / change >= jumpLeft && (value - ofHours.centre) / change >= jumpAway
    }
    return rest.subarray(first, at + 1).every(isFar)
  }

  /** Twice the largest change from the hour before in four weeks: people come at eight, some days more of them. */
  #changeAtHour(at: number): number {
    let largest = 0
    for (let day = 1; day <= historyDays; day++) {
      const place = at - day * dayHours
      if (place <= this.#historyFrom || this.#isLeftOut[place] === 1) continue
      const change = Math.abs((this.#track.rest[place] as number) - (this.#track.rest[place - 1] as number))
      if (change > largest) largest = change
    }
    return hourTimes * largest
  }

  /** The first hour of the window with at least half of its mean deviation. */
  #startIn(at: number, hours: number, { centre }: Reference): number {
    const first = at - hours + 1
    const mean = meanOfLast(this.#track.rest, at, hours) - centre
    const place = this.#track.rest.subarray(first, at + 1).findIndex(value => (value - centre) / mean >= 0.5)
    return Math.max(first, first + place)
  }

  #begin(from: number, at: number): void {
    this.#open = { from, foundAt: at, lastHigh: at }
    this.#isLeftOut.fill(1, from, at + 1)
  }

  #close(isOpen: boolean): void {
    if (this.#open === undefined) return
    const { from, foundAt, lastHigh } = this.#open
    this.#isLeftOut.fill(0, lastHigh + 1)
    const { centre, scale } = this.#references?.ofHours ?? { centre: 0, scale: 0 }
    const value = meanOfLast(this.#input.hourly, lastHigh, lastHigh - from + 1)
    const usual = value - meanOfLast(this.#track.rest, lastHigh, lastHigh - from + 1) + centre
    const expected = [usual - bandWidth * scale, usual + bandWidth * scale] as const
    this.#episodes.push({ from, to: lastHigh, foundAt, isOpen, value, expected })
    this.#open = undefined
  }

  /** The level counts as usual from the episode's beginning on. */
  #becomeUsual(at: number): void {
    if (this.#open === undefined) return
    const { from } = this.#open
    this.#close(false)
    this.#isLeftOut.fill(0, from, at + 1)
    this.#historyFrom = from
    this.#references = undefined
    for (const track of this.#tracks()) {
      track.rest.fill(Number.NaN, 0, from)
      for (let place = from; place <= at; place++) track.take(place, from, this.#isLeftOut)
    }
  }
}

/** Upper bound of the mean distance from the week before, relative to the day before, in a weekly cycle. */
const weekShareMax = 0.7

/** True if an hour is more like the one a week before than the one a day before. */
function hasWeek(hourly: Float64Array): boolean {
  const apart = (hours: number) => {
    let [sum, count] = [0, 0]
    for (let at = 7 * dayHours; at < hourly.length; at++) {
      const distance = Math.abs((hourly[at] as number) - (hourly[at - hours] as number))
      if (Number.isNaN(distance)) continue
      sum += distance
      count++
    }
    return sum / count
  }
  return apart(7 * dayHours) <= weekShareMax * apart(dayHours)
}

/** Mean up to an index; NaN where more than half of the values are missing. */
function meanOfLast(values: Float64Array, at: number, hours: number): number {
  let [sum, count] = [0, 0]
  for (let place = Math.max(0, at - hours + 1); place <= at; place++) {
    const value = values[place] as number
    if (Number.isNaN(value)) continue
    sum += value
    count++
  }
  return 2 * count >= hours ? sum / count : Number.NaN
}

/** Undefined for less than a week of values, and for constant values. It overwrites them. */
function referenceOf(values: Float64Array, quantum: number): Reference | undefined {
  if (values.length < referenceMin) return undefined
  const [centre] = quantilesInPlace(values, [0.5]) as [number]
  for (let place = 0; place < values.length; place++) values[place] = Math.abs((values[place] as number) - centre)
  const [mad, q95] = quantilesInPlace(values, [0.5, 0.95]) as [number, number]
  const scale = Math.max(normalMad * mad, q95 / middle95, quantum)
  return scale > 0 ? { centre, scale } : undefined
}

function independentOf(values: Float64Array): number {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length
  let [squares, products] = [0, 0]
  for (let at = 1; at < values.length; at++) {
    const value = (values[at] as number) - mean
    squares += value * value
    products += value * ((values[at - 1] as number) - mean)
  }
  const memory = squares > 0 ? Math.max(0, correctedMemory(products / squares, values.length)) : 0
  return (values.length * (1 - memory)) / (1 + memory)
}
