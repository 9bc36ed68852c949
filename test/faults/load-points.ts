/** Points of stations, several in a request: fresh, late and repeated ones, and bad points among good ones. */

import { type Parameter, parameters } from '../../auth/stations/station.ts'
import { pointValuesOf } from './identity.ts'
import type { Beginning, Kind } from './ledger.ts'
import { type CreateTraffic, type Outgoing, type Sender, statusesOfPart, type Traffic } from './load-traffic.ts'
import { badPoints, pointFieldsOf, pointsRequest } from './requests.ts'

/** Next times of the series of a station, and the last used ones. */
interface Series {
  device: string
  parameter: Parameter
  nextMs: { timed: number; late: number }
  recent: number[]
}

const dayMs = 86_400_000
/** Times have whole seconds, so a series sends several points with one time. */
const stepMs = 1000
const pointsMax = 12
const recentMax = 6
const wrongKey = 'not-the-key'

export const createPoints: CreateTraffic = (_order, takeSequences): Traffic => {
  const todayMs = Math.floor(Date.now() / dayMs) * dayMs
  const seriesOf = new WeakMap<Sender, Series[]>()

  function seriesIn(sender: Sender): Series[] {
    const known = seriesOf.get(sender)
    if (known !== undefined) return known
    const series = parameters.map(parameter => ({
      parameter,
      device: `${sender.name} ${parameter}`,
      recent: [],
      nextMs: { timed: todayMs - dayMs, late: todayMs - 30 * dayMs },
    }))
    seriesOf.set(sender, series)
    return series
  }

  function timeOf({ nextMs, recent }: Series, kind: 'timed' | 'late', { random }: Sender): number {
    if (recent.length > 0 && random.chance(0.2)) return random.pick(recent)
    const timeMs = nextMs[kind]
    nextMs[kind] += stepMs
    recent.push(timeMs)
    if (recent.length > recentMax) recent.shift()
    return timeMs
  }

  function onePoint(sender: Sender, kindOfRequest: Kind | undefined): { attempt: Beginning; fields: object } {
    const { random } = sender
    const series = random.pick(seriesIn(sender))
    const kind = kindOfRequest ?? (random.chance(0.01) ? 'bad' : random.chance(0.1) ? 'late' : 'timed')
    const timeMs = timeOf(series, kind === 'late' ? 'late' : 'timed', sender)
    const sequence = takeSequences(1)
    const fields = pointFieldsOf(series.parameter, pointValuesOf(sequence), timeMs)
    return {
      attempt: { sequence, device: series.device, kind, timeMs },
      fields: kind === 'bad' ? random.pick(badPoints(fields)) : fields,
    }
  }

  function next(sender: Sender, mayBeRefused: boolean): Outgoing {
    const { name, password, random } = sender
    const isWrong = mayBeRefused && random.chance(0.01)
    const count = 1 + random.below(pointsMax)
    const made = Array.from({ length: count }, () => onePoint(sender, isWrong ? 'wrong' : undefined))
    return {
      attempts: made.map(({ attempt }) => attempt),
      request: pointsRequest(
        name,
        isWrong ? wrongKey : password,
        made.map(({ fields }) => fields),
      ),
      statusesOf: ({ status, body }) => {
        if (status !== 201) return made.map(() => status)
        const { errors, ...counts } = JSON.parse(body) as Stored
        return statusesOfPart(
          made,
          counts,
          errors.map(({ index }) => index),
        )
      },
    }
  }

  return { next }
}

interface Stored {
  stored: number
  rejected: number
  errors: { index: number }[]
}
