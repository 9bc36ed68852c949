/** Parameters of requests with their schemas: numbers, moments, windows of time, and metrics. */

import { z } from 'zod'
import { metricsPerDeviceMax } from '../../store/metrics/metric.ts'
import { isMetricName } from '../../store/metrics/metric-name.ts'
import { metrics as columns } from '../../store/tables.ts'
import { momentForm, readZonedTimeText, timeUsMax } from '../../store/time-text.ts'
import type { AskedWindow } from './analysis.ts'

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

const switched = (error: string) =>
  z
    .enum(['0', '1'], { error })
    .default('0')
    .transform(text => text === '1')
export const withTimes = switched('t must be 1 for times in milliseconds, or 0')
export const withFlags = switched('flags must be 1 for the flags of suspect readings, or 0')

const momentInvalid = 'must be ISO 8601 with a zone, or epoch milliseconds'

/** No reading is earlier than 2000, so smaller numbers are later times in another unit. */
const [since2000, until2200] = [Date.UTC(2000, 0), timeUsMax / 1000]
const otherUnits = [
  ['seconds', 1000],
  ['microseconds', 1e-3],
  ['nanoseconds', 1e-6],
] as const

/** Epoch microseconds, or an error text. */
export function readMoment(text: unknown): number | string {
  if (typeof text !== 'string') return momentInvalid
  if (/^\d{1,19}$/.test(text)) {
    const count = Number(text)
    const unit = otherUnits.find(([, ms]) => count * ms >= since2000 && count * ms < until2200)
    if (unit !== undefined) return `looks like ${unit[0]}; send milliseconds`
    return count > timeUsMax / 1000 ? momentInvalid : count * 1000
  }
  // A plus sign without percent-encoding arrives as a space.
  const isoText = text.charAt(10).toUpperCase() === 'T' ? text.replace(' ', '+') : text
  const timeUs = readZonedTimeText(isoText)
  return timeUs === undefined || timeUs < 0 || timeUs > timeUsMax ? momentInvalid : timeUs
}

/** One leap year. */
export const daysMax = 366
export const dayUs = 86_400_000_000

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

/** The custom metrics of a device and the five built-in ones. */
const namesMax = metricsPerDeviceMax + columns.length
const namesInvalid = `metrics must be at most ${namesMax} names of metrics, with commas between them`
const namesForm = `^[a-z][a-z0-9_]{0,47}(?:,[a-z][a-z0-9_]{0,47}){0,${namesMax - 1}}$`

/** Undefined selects all metrics of the device. */
export const MetricNames = parameter(namesInvalid)
  .max(namesMax * 49, namesInvalid)
  .transform(text => [...new Set(text.split(','))])
  .refine(names => names.length <= namesMax && names.every(isMetricName), namesInvalid)
  .optional()
  .meta(published({ type: 'string', pattern: namesForm }))

/** Arguments of analyses of a moment. */
export const MomentParameters = z.object({
  end: moment('end', 'As of this moment; without it, of now'),
  metrics: MetricNames,
})

/** Options of analyses of a moment. */
export const momentHow = ({ end }: Pick<WindowFields, 'end'>) => ({ endMs: msOf(end) })
