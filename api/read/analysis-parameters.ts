/** What the analyses may be asked: the query string of each, in words that say what is allowed when it is wrong. */

import { z } from 'zod'
import { changeDaysMin } from '../../analytics/changes/change-points.ts'
import { gridStepsSeconds } from '../../analytics/time/grid.ts'
import { comparePreset, comparePresets } from '../../query/answers/compare-answer.ts'
import { detailPointsMax, detailPointsMin } from '../../query/answers/detail-answer.ts'
import { MetricNames } from './further-metrics.ts'
import { parameter, published, wholeNumber } from './parameter-kit.ts'

/** A year and a leap day. */
const daysMax = 366

const deviceName = z.string().min(1)

const switched = (error: string) =>
  z
    .enum(['0', '1'], { error })
    .default('0')
    .transform(text => text === '1')
const withTimes = switched('t must be 1 for times in milliseconds, or 0')
const withFlags = switched('flags must be 1 for the flags of suspect readings, or 0')

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

/** read-subjects.ts finds the devices. */
export const CompareParameters = z.object({ a: deviceName, b: deviceName, preset, t: withTimes, metrics: MetricNames })

export const DetailParameters = z.object({
  points: wholeNumber('points', detailPointsMin, detailPointsMax).optional(),
  t: withTimes,
  flags: withFlags,
  metrics: MetricNames,
})

export const ChangesParameters = z.object({
  days: wholeNumber('days', changeDaysMin, daysMax).default(100),
  metrics: MetricNames,
})

/** Of analyses that have nothing else to ask for. */
export const MetricsParameters = z.object({ metrics: MetricNames })

export const StatsParameters = z.object({
  days: wholeNumber('days', 1, daysMax).default(30),
  step: step.optional(),
  metrics: MetricNames,
})

export const DailyParameters = z.object({ days: wholeNumber('days', 1, daysMax).default(30), metrics: MetricNames })
