/** Sends the data points of a station: missing points of the last month, and then new points each minute. */

import { z } from 'zod'
import type { Parameter } from '../../../auth/stations/station.ts'
import { type DeliveryOptions, deliver, waited } from '../delivery.ts'
import { bellAt, seedOf, uniformAt, wanderAt } from '../noise.ts'
import { type AirStation, type Instrument, instruments } from './stations.ts'

interface FeedOptions extends DeliveryOptions {
  key: string
  now: () => number
  /** The minute of the epoch before which all points are stored; undefined at the first run. */
  storedUntil: number | undefined
  /** Called after each request, with the new value of `storedUntil` and the number of stored points. */
  onStored: (until: number, count: number) => void
  /** Called once, when all missing points are stored for the first time. */
  onCaughtUp: () => void
}

const minuteMs = 60_000
const dayMinutes = 1_440
const hourMinutes = 60
const historyMinutes = 30 * dayMinutes
const pointsPerRequest = 10_000
const minutesPerRequest = pointsPerRequest / instruments.length

/** Runs until the signal, or until the service refuses points for good. */
export async function runFeed(station: AirStation, options: FeedOptions): Promise<void> {
  const { now, signal, storedUntil, onStored, onCaughtUp } = options
  const minuteNow = () => Math.floor(now() / minuteMs)
  let next = Math.max(minuteNow() - historyMinutes, storedUntil ?? 0)
  let isBehind = true
  while (!signal.aborted) {
    const ahead = minuteNow() + 1
    if (next < ahead) {
      const until = Math.min(next + minutesPerRequest, ahead)
      const count = await send(station, next, until, options)
      if (count === undefined) return
      next = until
      onStored(until, count)
    } else {
      if (isBehind) onCaughtUp()
      isBehind = false
      await waited(next * minuteMs - now(), signal)
    }
  }
}

const Stored = z.object({ stored: z.int(), errors: z.array(z.object({ message: z.string() })) })

/** Returns the number of stored points, or undefined after a final error. */
async function send(
  station: AirStation,
  from: number,
  until: number,
  options: FeedOptions,
): Promise<number | undefined> {
  const { sn } = station
  const points = airPoints(station, from, until, Math.floor(options.now() / minuteMs))
  if (points.length === 0) return 0
  const request = { name: sn, method: 'POST', path: `/api/v1.0/device/${sn}/data/`, user: options.key } as const
  const text = await deliver({ ...request, password: '', body: JSON.stringify(points) }, options)
  if (text === undefined) return undefined
  const { stored, errors } = Stored.parse(JSON.parse(text))
  if (errors[0] !== undefined) options.onFault(sn, `${errors.length} points were refused: ${errors[0].message}`)
  return stored
}

/** The data points of a station for any minutes, as it would send them: with noise, and not without gaps. */
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

/** The station has no power or network on about one day in five, for up to four hours. */
function isOut({ sn }: AirStation, minute: number): boolean {
  return isInGap(seedOf(sn), minute, { everyMinutes: dayMinutes, share: 0.2, minutesMin: 15, minutesMax: 240 })
}

/** A single point, or an instrument that is off for some hours in a week. */
function isLost(seed: number, minute: number): boolean {
  if (uniformAt(seed + 2, minute) < 0.003) return true
  return isInGap(seed + 3, minute, { everyMinutes: weekMinutes, share: 0.4, minutesMin: 120, minutesMax: 1_200 })
}

interface Gaps {
  /** Each such span has at most one gap. */
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

type Concentrations = Record<Parameter, number>

/**
 * Concentrations in the units of the instruments, with `minute` counted from the Unix epoch: traffic in rush hours, mixing by day, ozone
 * made by the sun, and stagnant episodes of some days.
 */
function airAt(station: AirStation, minute: number): Concentrations {
  const seed = seedOf(station.sn)
  const local = minute + station.utcOffsetMinutes
  const hour = (local % dayMinutes) / hourMinutes
  const sun = Math.max(0, Math.sin((Math.PI * (hour - 6)) / 12))
  const cars = station.emissions * trafficAt(hour, isWeekend(local)) * (1 + 0.25 * wanderAt(seed + 1, minute, 17))
  const weather = 1 + 0.35 * wanderAt(seed + 2, minute, 2_000)
  const stagnation = stagnationAt(seed + 3, minute)
  // Little air mixes above the ground at night, and in an episode by day too.
  const trapped = (weather * (1 + 1.8 * stagnation)) / (1 + 1.2 * sun * (1 - 0.6 * stagnation))
  const fine = (9 + 16 * cars) * trapped
  const dust = 8 * station.emissions * (0.4 + sun) * (1 + 0.5 * wanderAt(seed + 4, minute, 90))
  const no = 14 * cars * trapped * (1 - 0.7 * sun)
  const no2 = (4 + 11 * cars) * trapped * (1 - 0.25 * sun)
  return {
    pm1: 0.62 * fine,
    pm25: fine,
    pm10: 1.25 * fine + dust,
    no,
    no2,
    // Fresh exhaust consumes it.
    o3: (12 + 45 * sun * (1 + 0.5 * stagnation)) / (1 + no / 40),
    so2: 1.5 + 0.8 * station.emissions * trapped + plumeAt(seed + 5, minute),
    co: 0.15 + 0.35 * cars * trapped,
  }
}

/** The traffic is near 1 in a rush hour. */
function trafficAt(hour: number, isFree: boolean): number {
  const night = 0.15
  if (isFree) return night + 0.4 * peak(hour, 14, 4.5)
  return night + 0.45 * peak(hour, 13.5, 4) + 0.7 * peak(hour, 8.5, 1.2) + 0.75 * peak(hour, 18.5, 1.6)
}

function peak(hour: number, centre: number, width: number): number {
  return Math.exp(-(((hour - centre) / width) ** 2) / 2)
}

/** The epoch began on a Thursday. */
function isWeekend(localMinute: number): boolean {
  const weekday = (Math.floor(localMinute / dayMinutes) + 4) % 7
  return weekday === 0 || weekday === 6
}

const episodeEveryMinutes = 10 * dayMinutes

/** The result is 0 to 1. An episode lasts two to four days in every ten days. */
function stagnationAt(seed: number, minute: number): number {
  const round = Math.floor(minute / episodeEveryMinutes)
  const lengthMinutes = (2 + 2 * uniformAt(seed, 2 * round)) * dayMinutes
  const startMinute = uniformAt(seed, 2 * round + 1) * (episodeEveryMinutes - lengthMinutes)
  const share = (minute - round * episodeEveryMinutes - startMinute) / lengthMinutes
  return share > 0 && share < 1 ? Math.sin(Math.PI * share) ** 2 : 0
}

const plumeMinutes = 45

/** The wind brings the smoke of a factory for less than an hour, about once in two days. */
function plumeAt(seed: number, minute: number): number {
  const round = Math.floor(minute / plumeMinutes)
  if (uniformAt(seed, round) > 0.015) return 0
  return 25 * Math.sin((Math.PI * (minute - round * plumeMinutes)) / plumeMinutes)
}
