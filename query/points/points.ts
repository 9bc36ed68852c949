/**
 * Entry point of this folder: the points of a station, in pages or as a stream of lines, one point, and the newest one.
 *
 * QuestDB filters and sorts a list by stored columns, the worker's memory does so by computed ones such as running
 * means; see point-sql.ts. The rows are counted by the hour (hour-counts.ts), and the counts are cached until the
 * station gets new points.
 */

import type { Station } from '../analysed-device.ts'
import { BodyInterrupted, begun } from '../pieces.ts'
import { lastIdOf, placeOfId } from './point-rows.ts'
import { csvHeader, type PointFormat } from './point-texts.ts'
import { isStored, type Plan, type PointList, type PointsText, planOf, type StoredPlan } from './points-queries.ts'
import {
  createPointsReader,
  nothing,
  type PointsOptions,
  type PointsReader,
  pieces,
  readFromMemory,
  readSlice,
  readStored,
  type Slice,
  totalOf,
} from './points-reader.ts'
import type { Outcome, PointsFailure } from './points-run.ts'
import type { HourCounts } from './points-source.ts'

export interface PointPage extends PointList {
  /** Starts at 1. */
  readonly page: number
  readonly perPage: number
}

type PageAnswer =
  | {
      readonly ok: true
      readonly total: number
      /** The points as JSON, separated by commas. */
      readonly points: Uint8Array<ArrayBuffer>
      /** No current point has a larger id; undefined when there is none. */
      readonly lastId: number | undefined
    }
  | PointsFailure

/** The point as JSON; empty when there is none. */
type PointAnswer = { readonly ok: true; readonly point: Uint8Array<ArrayBuffer> } | PointsFailure

export interface Points {
  page(asked: PointPage, client: AbortSignal): Promise<PageAnswer>
  /**
   * Whole lines, piece by piece; each piece is read after the previous one was taken. The first is built before this
   * resolves; a later failure is thrown.
   */
  lines(
    asked: PointList,
    format: Exclude<PointFormat, 'json'>,
    client: AbortSignal,
  ): Promise<{ readonly ok: true; readonly pieces: AsyncIterable<Uint8Array> } | PointsFailure>
  point(station: Station, id: number, client: AbortSignal): Promise<PointAnswer>
  latest(station: Station, client: AbortSignal): Promise<PointAnswer>
  close(): Promise<void>
}

/** Some 10 MB of text. An export of QuestDB takes some ten milliseconds in addition to its rows. */
const pieceRows = 60_000
/** Number of pieces prepared beside the current one. */
const piecesAhead = 1

export function createPoints(options: PointsOptions): Points {
  const reader = createPointsReader(options)
  async function storedPage(
    plan: StoredPlan,
    { page, perPage, limit }: PointPage,
    client: AbortSignal,
  ): Promise<PageAnswer> {
    const counted = await countFor(reader, plan, client)
    if (!counted.ok) return counted
    const total = Math.min(limit, counted.rows)
    const offset = (page - 1) * perPage
    if (page < 1 || (page > 1 && offset >= total)) return { ok: false, code: 'PAGE_UNKNOWN' }
    if (total === 0) return pageAnswer(nothing.bytes, 0, counted.newestUs)
    const slice = { offset, count: Math.min(perPage, total - offset) }
    const answer = await counted.read(slice)
    return answer.ok ? pageAnswer(answer.text.bytes, total, counted.newestUs) : answer
  }

  async function memoryPage(plan: Plan, { page, perPage, limit }: PointPage, client: AbortSignal): Promise<PageAnswer> {
    const offset = (page - 1) * perPage
    if (page < 1 || (page > 1 && offset >= limit)) return { ok: false, code: 'PAGE_UNKNOWN' }
    const slice = { offset, count: Math.min(perPage, limit - offset) }
    const answer = await readFromMemory(reader, plan, slice, 'json', client)
    if (!answer.ok) return answer
    const total = Math.min(limit, answer.text.total)
    if (page > 1 && offset >= total) return { ok: false, code: 'PAGE_UNKNOWN' }
    return pageAnswer(answer.text.bytes, total, answer.text.newestUs)
  }

  async function* storedPieces(
    plan: StoredPlan,
    hours: HourCounts,
    format: PointFormat,
    client: AbortSignal,
  ): AsyncGenerator<Uint8Array> {
    const { limit } = plan.list
    const read = ({ offset, count }: Slice) => {
      return readStored(reader, plan, hours, { offset, count: Math.min(count, limit - offset) }, format, client)
    }
    // Two pieces are built at a time, and the next one while the client takes this one.
    const ahead: ReturnType<typeof read>[] = []
    for (const slice of pieces(hours, plan.time ?? 'asc', pieceRows)) {
      if (slice.offset >= limit) break
      const next = read(slice)
      // It is awaited below, unless the client leaves first.
      next.catch(() => undefined)
      ahead.push(next)
      if (ahead.length > piecesAhead) yield bytesOf(await (ahead.shift() as typeof next))
    }
    for (const last of ahead) yield bytesOf(await last)
  }

  async function lines(asked: PointList, format: Exclude<PointFormat, 'json'>, client: AbortSignal) {
    const plan = planOf(asked)
    if (plan === undefined) return { ok: false, code: 'MEAN_UNBOUNDED' } as const
    const header = new TextEncoder().encode(format === 'csv' ? csvHeader : '')
    if (isStored(plan)) {
      const counted = await reader.hours(plan, client)
      if (!counted.ok) return counted
      return await begun<PointsFailure['code']>(header, storedPieces(plan, counted.hours, format, client))
    }
    const answer = await readFromMemory(reader, plan, { offset: 0, count: asked.limit }, format, client)
    return answer.ok ? ({ ok: true, pieces: iterate([header, answer.text.bytes]) } as const) : answer
  }

  return {
    lines,
    async page(asked, client) {
      const plan = planOf(asked)
      if (plan === undefined) return { ok: false, code: 'MEAN_UNBOUNDED' }
      return isStored(plan) ? await storedPage(plan, asked, client) : await memoryPage(plan, asked, client)
    },
    async point(station, id, client) {
      const { timeUs, series } = placeOfId(id)
      if (!station.series.some(({ number }) => number === series)) return { ok: true, point: nothing.bytes }
      return pointAnswer(await reader.text('place', { station, series, timeUs }, true, client))
    },
    async latest(station, client) {
      return pointAnswer(await reader.newest(station, client))
    },
    close: reader.close,
  }
}

/**
 * The number of rows, and how to read a page of them. The first page after new points is found by its index among all
 * rows. Later pages use the counts of hours.
 */
async function countFor(reader: PointsReader, plan: StoredPlan, client: AbortSignal) {
  const { byId } = plan
  if (byId === undefined || reader.isAskedAgain(plan)) {
    const answer = await reader.hours(plan, client)
    if (!answer.ok) return answer
    const { hours } = answer
    const read = (slice: Slice) => readStored(reader, plan, hours, slice, 'json', client)
    return { ok: true, rows: totalOf(hours), newestUs: hours.newestUs, read } as const
  }
  const answer = await reader.count(plan, client)
  if (!answer.ok) return answer
  const { counted } = answer
  const read = (slice: Slice) => readSlice(reader, plan, byId, counted, slice, client)
  return { ok: true, ...counted, read } as const
}

function bytesOf(answer: Outcome<{ text: PointsText }>): Uint8Array {
  if (!answer.ok) throw new BodyInterrupted(answer.code)
  return answer.text.bytes
}

function pageAnswer(points: Uint8Array<ArrayBuffer>, total: number, newestUs: number): PageAnswer {
  return { ok: true, total, points, lastId: Number.isFinite(newestUs) ? lastIdOf(newestUs) : undefined }
}

function pointAnswer(answer: Outcome<{ text: PointsText }>): PointAnswer {
  return answer.ok ? { ok: true, point: answer.text.bytes } : answer
}

async function* iterate(list: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* list
}
