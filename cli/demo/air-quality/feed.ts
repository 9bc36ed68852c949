/** Sends the data points of a station: missing points of the last month, and then new points each minute. */

import { z } from 'zod'
import { type DeliveryOptions, deliver, waited } from '../delivery.ts'
import { dayMinutes } from './air-model.ts'
import { airPoints } from './air-points.ts'
import { type AirStation, instruments } from './stations.ts'

export interface FeedOptions extends DeliveryOptions {
  key: string
  now: () => number
  /** The minute of the epoch before which all points are stored; undefined at the first run. */
  storedUntil: number | undefined
  /** After each request, with the new one of these, and how many points were stored. */
  onStored: (until: number, count: number) => void
  /** When nothing is missing any more, for the first time. */
  onCaughtUp: () => void
}

const minuteMs = 60_000
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
