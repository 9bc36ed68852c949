/** What the analyses may be asked: the query string of each, in words that say what is allowed when it is wrong. */

import { z } from 'zod'
import { gridStepsSeconds } from '../../analytics/time/grid.ts'
import { comparePreset, comparePresets } from '../../query/answers/compare-answer.ts'
import { detailPointsMax, detailPointsMin } from '../../query/answers/detail-answer.ts'

/** A year and a leap day. */
const daysMax = 366

/** A parameter is one text; one that is given twice comes as a list, and is refused like any other wrong one. */
function parameter(error: string) {
  return z.string({ error })
}

/** Plain digits. */
function wholeNumber(name: string, min: number, max: number) {
  const error = `${name} must be a whole number from ${min} to ${max}`
  return parameter(error)
    .regex(/^[1-9]\d{0,8}$/, error)
    .transform(Number)
    .refine(value => value >= min && value <= max, error)
    .meta(published({ type: 'integer', minimum: min, maximum: max }))
}

/** What the contract says of a parameter, in place of the pattern of its text. */
function published(schema: { type: 'integer' | 'string'; [keyword: string]: unknown }) {
  return { pattern: undefined, ...schema }
}

const deviceName = parameter('a and b must each name a device').min(1, 'a and b must each name a device')

const withTimes = z
  .enum(['0', '1'], { error: 't must be 1 for times in milliseconds, or 0' })
  .default('0')
  .transform(text => text === '1')

const presetInvalid = `preset must be one of ${comparePresets.join(', ')}`
const preset = parameter(presetInvalid)
  .default('7d')
  .transform((text, context) => {
    const known = comparePreset(text)
    if (known === undefined) context.addIssue(presetInvalid)
    return known ?? z.NEVER
  })
  .meta(published({ type: 'string', enum: comparePresets, default: '7d' }))

const stepInvalid = `step must be one of ${gridStepsSeconds.join(', ')} seconds`
const step = parameter(stepInvalid)
  .refine(text => gridStepsSeconds.some(seconds => String(seconds) === text), stepInvalid)
  .transform(Number)
  .meta(published({ type: 'integer', enum: gridStepsSeconds }))

export const CompareParameters = z.object({ a: deviceName, b: deviceName, preset, t: withTimes })

export const DetailParameters = z.object({
  points: wholeNumber('points', detailPointsMin, detailPointsMax).optional(),
  t: withTimes,
})

export const StatsParameters = z.object({ days: wholeNumber('days', 1, daysMax).default(30), step: step.optional() })

export const DailyParameters = z.object({ days: wholeNumber('days', 1, daysMax).default(30) })

export const NoParameters = z.object({})
