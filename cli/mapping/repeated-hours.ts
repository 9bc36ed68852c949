/**
 * The hour that comes twice when the clocks are set back. The lines of each series decide by their order: where they go on in time,
 * those before a step back are of the first hour; where the newest line is first, those before a step forward are of the second.
 */

/** The lines of one series in one such hour, one behind the other. */
interface Visit {
  /** The time of the hour's first line. */
  readonly aroundUs: number
  /** Length of the hour. */
  readonly lengthUs: number
  lastUs: number
  lines: number
  /** Lines at the time of the line before. */
  equals: number
  back: Steps
  forward: Steps
  /** Times of the series' lines before and after the visit. */
  readonly beforeUs: number | undefined
  afterUs: number | undefined
}

interface Steps {
  count: number
  /** The last visit: its line, and its end. */
  line: number
  lengthUs: number
}

interface SeriesOrder {
  readonly visits: Visit[]
  /** True if the last line is in the last visit. */
  isInside: boolean
  lastOutsideUs: number | undefined
  back: number
  forward: number
}

/** The limit for a file: a visit has some 200 bytes, a series less. */
const visitsMax = 200_000
const seriesMax = 200_000

/** A line is of the first or the second hour. Undefined where the order does not decide. */
export type Turn = 'first' | 'second' | undefined

/** The times of the first reading of a file. */
export class RepeatedHours {
  readonly #series = new Map<string, SeriesOrder>()
  #visitCount = 0

  /** `lengthUs`: 0 of a time that comes once. */
  note(series: string, localUs: number, lengthUs: number): void {
    const order = this.#series.get(series) ?? this.#begin(series)
    if (order === undefined) return
    const visit = order.isInside ? order.visits.at(-1) : undefined
    if (lengthUs === 0) outside(order, visit, localUs)
    else if (visit !== undefined && isIn(visit, localUs)) inside(visit, localUs)
    else this.#enter(order, localUs, lengthUs)
  }

  #begin(series: string): SeriesOrder | undefined {
    if (this.#series.size === seriesMax) return undefined
    const order: SeriesOrder = { visits: [], isInside: false, lastOutsideUs: undefined, back: 0, forward: 0 }
    this.#series.set(series, order)
    return order
  }

  #enter(order: SeriesOrder, localUs: number, lengthUs: number): void {
    order.isInside = this.#visitCount < visitsMax
    if (!order.isInside) return
    this.#visitCount++
    order.visits.push({
      aroundUs: localUs,
      lengthUs,
      lastUs: localUs,
      lines: 1,
      equals: 0,
      back: { count: 0, line: 0, lengthUs: 0 },
      forward: { count: 0, line: 0, lengthUs: 0 },
      beforeUs: order.lastOutsideUs,
      afterUs: undefined,
    })
  }

  /** Used in the second pass over the same lines. Returns the hour of each line, in the same order. */
  turns(): (series: string, localUs: number, lengthUs: number) => Turn {
    const places = new Map<string, { visit: number; line: number; isInside: boolean }>()
    return (series, localUs, lengthUs) => {
      const order = this.#series.get(series)
      if (order === undefined || order.visits.length === 0) return undefined
      const place = places.get(series) ?? { visit: -1, line: 0, isInside: false }
      places.set(series, place)
      const current = order.visits[place.visit]
      if (lengthUs === 0) place.isInside = false
      else if (place.isInside && current !== undefined && isIn(current, localUs)) place.line++
      else {
        place.isInside = true
        place.visit++
        place.line = 0
      }
      const visit = order.visits[place.visit]
      return lengthUs === 0 || visit === undefined ? undefined : turnOf(visit, order, place.line)
    }
  }
}

/** Two such hours are weeks apart. */
function isIn({ aroundUs, lengthUs }: Visit, localUs: number): boolean {
  return Math.abs(localUs - aroundUs) <= lengthUs
}

function outside(order: SeriesOrder, visit: Visit | undefined, localUs: number): void {
  if (visit !== undefined) visit.afterUs = localUs
  const { lastOutsideUs = localUs } = order
  if (localUs < lastOutsideUs) order.back++
  if (localUs > lastOutsideUs) order.forward++
  order.lastOutsideUs = localUs
  order.isInside = false
}

function inside(visit: Visit, localUs: number): void {
  const stepUs = localUs - visit.lastUs
  const steps = stepUs < 0 ? visit.back : visit.forward
  if (stepUs === 0) visit.equals++
  else {
    steps.count++
    steps.line = visit.lines
    steps.lengthUs = Math.abs(stepUs)
  }
  visit.lastUs = localUs
  visit.lines++
}

function turnOf(visit: Visit, order: SeriesOrder, line: number): Turn {
  const direction = directionOf(visit, order)
  if (direction === undefined) return undefined
  const [against, wrongWay] = direction === 'forward' ? [visit.back, order.back] : [visit.forward, order.forward]
  const turnsAt = turnsAtLine(visit, against, wrongWay)
  if (turnsAt === undefined) return undefined
  return line < turnsAt === (direction === 'forward') ? 'first' : 'second'
}

/** `wrongWay`: how many steps of the series go against its direction elsewhere, so that a short one here may be one more. */
function turnsAtLine({ lines, equals, lengthUs }: Visit, against: Steps, wrongWay: number): number | undefined {
  // A device that reports once an hour has one line in each of the two hours, with the same time.
  if (against.count === 0) return lines === 2 && equals === 1 ? 1 : undefined
  if (against.count > 1) return undefined
  return wrongWay === 0 || against.lengthUs >= lengthUs / 2 ? against.line : undefined
}

function directionOf({ aroundUs, beforeUs, afterUs }: Visit, order: SeriesOrder): 'forward' | 'back' | undefined {
  const around = [beforeUs === undefined ? 0 : aroundUs - beforeUs, afterUs === undefined ? 0 : afterUs - aroundUs]
  if (around.every(step => step >= 0) && around.some(step => step > 0)) return 'forward'
  if (around.every(step => step <= 0) && around.some(step => step < 0)) return 'back'
  if (around.some(step => step !== 0) || order.back > 0 === order.forward > 0) return undefined
  return order.forward > 0 ? 'forward' : 'back'
}
