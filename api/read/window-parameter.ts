/** Parses the window of an analysis: days up to now or `end`, or from `start` to `end`. */

import { z } from 'zod'
import type { AskedWindow } from '../../query/asked-window.ts'
import { momentForm } from '../http/parameters.ts'
import { parameter, published, wholeNumber } from './parameter-kit.ts'
import { momentInvalid, readMoment } from './readings-parameters.ts'

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
