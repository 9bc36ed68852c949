/** The data points of a station for any minutes, as it would send them: with noise, and not without gaps. */

import { bellAt, seedOf, uniformAt } from '../noise.ts'
import { airAt, dayMinutes } from './air-model.ts'
import { type AirStation, type Instrument, instruments } from './stations.ts'

export interface AirPoint {
  timestamp: string
  parameter: string
  unit: string
  value: number
}

/** The points of `from` (included) to `until` (not included), in minutes of the epoch. */
export function airPoints(station: AirStation, from: number, until: number, nowMinute: number): AirPoint[] {
  const points: AirPoint[] = []
  const today = Math.floor(nowMinute / dayMinutes)
  const seeded = instruments.map(instrument => ({ instrument, seed: seedOf(`${station.sn} ${instrument.parameter}`) }))
  for (let minute = from; minute < until; minute++) {
    // A station that is silent now would look like a broken demo.
    if (Math.floor(minute / dayMinutes) < today && isOut(station, minute)) continue
    const air = airAt(station, minute)
    const timestamp = new Date(minute * 60_000).toISOString().slice(0, 19)
    for (const { instrument, seed } of seeded) {
      if (isLost(seed, minute)) continue
      const { parameter, unit } = instrument
      points.push({ timestamp, parameter, unit, value: measuredBy(instrument, air[parameter], seed, minute) })
    }
  }
  return points
}

function measuredBy({ noise, digits }: Instrument, value: number, seed: number, minute: number): number {
  const shown = value + (noise + 0.02 * value) * bellAt(seed + 1, minute)
  return Number(Math.max(0, shown).toFixed(digits))
}

const weekMinutes = 7 * dayMinutes

/** Without power or network, on about one day in five, for up to four hours. */
function isOut({ sn }: AirStation, minute: number): boolean {
  return isInGap(seedOf(sn), minute, { everyMinutes: dayMinutes, share: 0.2, minutesMin: 15, minutesMax: 240 })
}

/** A single point, or an instrument that is off for some hours in a week. */
function isLost(seed: number, minute: number): boolean {
  if (uniformAt(seed + 2, minute) < 0.003) return true
  return isInGap(seed + 3, minute, { everyMinutes: weekMinutes, share: 0.4, minutesMin: 120, minutesMax: 1_200 })
}

interface Gaps {
  /** In each such span there is one gap at most. */
  everyMinutes: number
  /** The share of spans with such an event. */
  share: number
  minutesMin: number
  minutesMax: number
}

function isInGap(seed: number, minute: number, { everyMinutes, share, minutesMin, minutesMax }: Gaps): boolean {
  const round = Math.floor(minute / everyMinutes)
  if (uniformAt(seed, 3 * round) >= share) return false
  const length = minutesMin + uniformAt(seed, 3 * round + 1) * (minutesMax - minutesMin)
  const start = uniformAt(seed, 3 * round + 2) * (everyMinutes - length)
  const at = minute - round * everyMinutes
  return at >= start && at < start + length
}
