/** Forms of query parameters with their schemas: numbers, windows of time, and metrics. */

import { z } from 'zod'
import type { Device } from '../../auth/devices/device.ts'
import { customMetricsOf, type DeviceMetrics } from '../../auth/metrics/device-metrics.ts'
import type { AskedWindow } from '../../query/asked-window.ts'
import { builtInMetrics, type ExportMetric } from '../../query/export/export-columns.ts'
import { noSeries, type SeriesTable, seriesEmpty, seriesTable } from '../../query/export/series-table.ts'
import { momentForm } from '../http/parameters.ts'
import { momentInvalid, readMoment } from './readings-parameters.ts'

/** A parameter is one text. A repeated one arrives as a list and is refused. */
export function parameter(error: string) {
  return z.string({ error })
}

export function wholeNumber(name: string, min: number, max: number) {
  const error = `${name} must be a whole number from ${min} to ${max}`
  return parameter(error)
    .regex(/^[1-9]\d{0,8}$/, error)
    .transform(Number)
    .refine(value => value >= min && value <= max, error)
    .meta(published({ type: 'integer', minimum: min, maximum: max }))
}

/** Replaces the text's pattern in the contract. */
export function published(schema: { type: 'integer' | 'string'; [keyword: string]: unknown }) {
  return { pattern: undefined, ...schema }
}

/** One leap year. */
const daysMax = 366
const dayUs = 86_400_000_000

/** Returns microseconds. */
export function moment(name: string, description: string) {
  return parameter(`${name} ${momentInvalid}`)
    .transform((text, context) => {
      const timeUs = readMoment(text)
      if (typeof timeUs === 'number') return timeUs
      context.addIssue(`${name} ${timeUs}`)
      return z.NEVER
    })
    .optional()
    .meta(published({ type: 'string', pattern: momentForm, description }))
}

/** Argument of analyses that always end at a moment. */
export const asOf = { end: moment('end', 'As of this moment; without it, of now') }

/** Arguments of analyses of a window. */
export function windowFields(daysMin: number, daysUsual: number) {
  return {
    days: wholeNumber('days', daysMin, daysMax)
      .optional()
      .meta({ description: `Up to the end; without it and start, ${daysUsual}` }),
    start: moment('start', 'The first moment; end goes with it, and days does not'),
    end: moment('end', 'Before this moment; without it, up to now'),
  }
}

interface WindowFields {
  readonly days?: number | undefined
  readonly start?: number | undefined
  readonly end?: number | undefined
}

interface Issues {
  addIssue(text: string): void
}

export function checkWindow({ days, start, end }: WindowFields, context: Issues): void {
  if (start === undefined) return
  if (days !== undefined) context.addIssue('start and days do not go together')
  checkRange(start, end, context)
}

export function checkRange(start: number | undefined, end: number | undefined, context: Issues): void {
  if (start === undefined || end === undefined) {
    context.addIssue('start and end go together')
    return
  }
  if (end <= start) context.addIssue('end must be after start')
  if (end - start > daysMax * dayUs) context.addIssue(`a range has at most ${daysMax} days`)
}

/** Expects checked fields. */
export function windowOf({ days, start, end }: WindowFields, daysUsual: number): AskedWindow {
  const ofRange = start === undefined || end === undefined ? undefined : (end - start) / dayUs
  return { days: ofRange ?? days ?? daysUsual, startMs: msOf(start), endMs: msOf(end) }
}

export function msOf(timeUs: number | undefined): number | undefined {
  return timeUs === undefined ? undefined : Math.floor(timeUs / 1000)
}

interface RangeMetrics {
  readonly metrics: readonly ExportMetric[]
  /** Series of the custom metrics. */
  readonly series: SeriesTable
}

type ChosenMetrics =
  | { readonly ok: true; readonly chosen: RangeMetrics }
  | { readonly ok: false; readonly status: string }

/** Without the parameter: the built-in metrics, then the device's custom ones. */
export function chooseMetrics(text: unknown, device: Device, registry: DeviceMetrics): ChosenMetrics {
  const custom = customMetricsOf(registry, device)
  if (text === undefined && custom.length === 0) {
    return { ok: true, chosen: { metrics: builtInMetrics, series: seriesEmpty } }
  }
  const there: ExportMetric[] = [...builtInMetrics, ...custom]
  const metrics = namedMetrics(text, there)
  if (typeof metrics === 'string') return { ok: false, status: metrics }
  const entries = metrics.flatMap(({ name }, place) => {
    const metric = custom.find(one => one.name === name)
    return metric === undefined ? [] : [registry.series(device.number, metric) ?? noSeries, device.number, place]
  })
  return { ok: true, chosen: { metrics, series: seriesTable(entries) } }
}

/** Longer than the names of all metrics of a device. */
const textLengthMax = 4000

/** All present metrics without the parameter. A text is an error message. */
export function namedMetrics<One extends ExportMetric>(text: unknown, there: readonly One[]): readonly One[] | string {
  if (text === undefined) return there
  const names = typeof text === 'string' && text.length <= textLengthMax ? text.split(',') : []
  const metrics = names.flatMap(name => there.find(metric => metric.name === name) ?? [])
  const isEachOnce = names.length > 0 && metrics.length === names.length && new Set(names).size === names.length
  if (isEachOnce) return metrics
  return `metrics must name each once, with commas between them: ${there.map(({ name }) => name).join(', ')}`
}
