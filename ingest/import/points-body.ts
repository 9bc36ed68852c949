/**
 * Reads the body of a request with points of one station: a point, or an array of them. Small bodies are read directly, larger
 * ones in a thread that runs this file, since their bytes are arbitrary.
 */

import { isMainThread } from 'node:worker_threads'
import { Piscina } from 'piscina'
import { threadLimits } from '../../store/thread-limits.ts'
import { lowerThreadPriority } from '../../store/thread-priority.ts'
import { createPointCheck, type PointCheck } from '../point.ts'
import { encodePoints, type SeriesPoint } from '../points-table.ts'
import { idleMsMax } from './import-pool.ts'

// A bulk body gives way to single readings on a machine with few processors.
if (!isMainThread) lowerThreadPriority('below normal')

interface PointsBodyTask {
  body: Uint8Array
  sn: string
  /** Number of the series of each of the station's parameters. */
  series: ReadonlyMap<string, number>
  /** Time of receipt. */
  nowUs: number
  /** Limit of times ahead of it. */
  aheadMsMax: number
  /** Limit for an array. */
  pointsMax: number
}

type PointsBody =
  | {
      kind: 'points'
      /** Records of the journal, in the order of the request. The later one of two points with one key stays. */
      records: Uint8Array
      stored: number
      rejected: number
      /** `[{"index":0,"message":"…"}]`: the elements of an array that are not points. */
      errors: Uint8Array
      /** The first of each reason. */
      rejects: { reason: string }[]
    }
  /** Nothing is stored, for this reason. */
  | { kind: 'refused'; message: string }
  | { kind: 'no json' }

const rejectsMax = 100
const utf8 = new TextDecoder('utf-8', { fatal: true })

/** @public The pool's thread calls it by its name. */
export function readPointsBody(task: PointsBodyTask): PointsBody {
  let value: unknown
  try {
    // Many clients declare JSON as the type of every request, even without a body.
    if (task.body.length > 0) value = JSON.parse(utf8.decode(task.body))
  } catch {
    return { kind: 'no json' }
  }
  const check = createPointCheck(task.aheadMsMax)
  if (Array.isArray(value)) return readArray(value, task, check)
  const point = readPoint(value, task, check)
  return typeof point === 'string' ? { kind: 'refused', message: point } : pointsOf([point], [])
}

function readArray(elements: readonly unknown[], task: PointsBodyTask, check: PointCheck): PointsBody {
  const { pointsMax } = task
  if (elements.length === 0 || elements.length > pointsMax) {
    return { kind: 'refused', message: `an array must hold 1 to ${pointsMax} data points` }
  }
  const points: SeriesPoint[] = []
  const errors: { index: number; message: string }[] = []
  for (const [index, element] of elements.entries()) {
    const point = readPoint(element, task, check)
    if (typeof point === 'string') errors.push({ index, message: point })
    else points.push(point)
  }
  return pointsOf(points, errors)
}

function pointsOf(points: readonly SeriesPoint[], errors: readonly { message: string }[]): PointsBody {
  const counts = { stored: points.length, rejected: errors.length }
  const rejects = errors.slice(0, rejectsMax).map(({ message }) => ({ reason: message }))
  const json = Buffer.from(JSON.stringify(errors))
  return { kind: 'points', ...counts, records: encodePoints(points), errors: json, rejects }
}

/** Returns a sentence for an invalid point. */
function readPoint(element: unknown, task: PointsBodyTask, check: PointCheck): SeriesPoint | string {
  const { sn, series, nowUs } = task
  if (!isObject(element)) return 'a data point must be an object'
  // A point from an answer of the API names its station.
  if (element['sn'] !== undefined && element['sn'] !== sn) return `sn: must be ${sn}, as in the path`
  const checked = check(element, nowUs / 1000)
  if (!checked.ok) {
    return Object.entries(checked.errors)
      .map(([field, reason]) => `${field}: ${reason}`)
      .join('; ')
  }
  const { timestampMs, parameter, unit, value } = checked.point
  const number = series.get(parameter)
  if (number === undefined) return `parameter: must be one of ${[...series.keys()].join(', ')}`
  return { series: { number, symbol: unit }, values: { timestampMs, value, storedAtUs: nowUs } }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export interface PointsBodyReader {
  /** `busy` when too many bodies wait. */
  read(task: PointsBodyTask): Promise<PointsBody | 'busy'>
  close(): Promise<void>
}

/** A body of this size is read within a millisecond or two, faster than passing it to a thread and back. */
const bytesAtOnceMax = 16 * 1024
/** Bodies of a few megabytes at most. */
const waitingMax = 64
const threadsMax = 1

export function createPointsBodyReader(): PointsBodyReader {
  const pool = new Piscina({
    filename: import.meta.url,
    name: 'readPointsBody',
    minThreads: 0,
    maxThreads: threadsMax,
    maxQueue: waitingMax,
    idleTimeout: idleMsMax,
    resourceLimits: threadLimits.readingsImport,
  })
  return {
    async read(task) {
      if (task.body.length <= bytesAtOnceMax) return readPointsBody(task)
      if (pool.queueSize >= waitingMax) return 'busy'
      return await pool.run(task)
    },
    close: () => pool.destroy(),
  }
}
