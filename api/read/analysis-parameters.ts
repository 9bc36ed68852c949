/** Parameters of analyses. */

import { z } from 'zod'
import { changeDaysMin } from '../../analytics/changes/change-points.ts'
import { gridStepsSeconds } from '../../analytics/time/grid.ts'
import { comparePreset, comparePresets } from '../../query/answers/compare-answer.ts'
import { detailPointsMax, detailPointsMin } from '../../query/answers/detail-answer.ts'
import { AnomalyId, anomaliesMax } from '../../query/shapes/anomalies.ts'
import { isMetricName } from '../../store/metrics/metric-name.ts'
import { MetricNames } from './custom-metrics.ts'
import { asOf, checkRange, checkWindow, moment, parameter, published, wholeNumber, windowFields } from './parameters.ts'

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
  .transform((text, context) => {
    const known = comparePreset(text)
    if (known === undefined) context.addIssue(presetInvalid)
    return known ?? z.NEVER
  })
  .optional()
  .meta(published({ type: 'string', enum: comparePresets, description: 'Without it and start, 7d' }))

const stepInvalid = `step must be one of ${gridStepsSeconds.join(', ')} seconds`
const step = parameter(stepInvalid)
  .refine(text => gridStepsSeconds.some(seconds => String(seconds) === text), stepInvalid)
  .transform(Number)
  .meta(published({ type: 'integer', enum: gridStepsSeconds }))

/** Default days of a window. */
export const usualDays = { stats: 30, daily: 30, changes: 100, domain: 30, anomalies: 30 }

/** read-subjects.ts finds the devices. */
export const CompareParameters = z
  .object({
    a: deviceName,
    b: deviceName,
    preset,
    start: moment('start', 'The first moment, down to the full hour; end goes with it, and preset does not'),
    end: moment('end', 'Before this moment, down to the full hour; without it, up to the last reading'),
    t: withTimes,
    metrics: MetricNames,
  })
  .superRefine(({ preset, start, end }, context) => {
    if (start !== undefined && preset !== undefined) context.addIssue('start and preset do not go together')
    checkWindow({ start, end }, context)
  })

export const DetailParameters = z
  .object({
    points: wholeNumber('points', detailPointsMin, detailPointsMax).optional(),
    start: moment('start', 'The first hour; end goes with it'),
    end: moment('end', 'As of this moment; without it, of now'),
    t: withTimes,
    flags: withFlags,
    metrics: MetricNames,
  })
  .superRefine(checkWindow)

export const ChangesParameters = z
  .object({ ...windowFields(changeDaysMin, usualDays.changes), metrics: MetricNames })
  .superRefine(checkWindow)

/** Arguments of figures by a device's domain. */
export const DomainParameters = z.object(windowFields(1, usualDays.domain)).superRefine(checkWindow)

/** Arguments of analyses of a moment. */
export const MomentParameters = z.object({ ...asOf, metrics: MetricNames })

export const StatsParameters = z
  .object({ ...windowFields(1, usualDays.stats), step: step.optional(), metrics: MetricNames })
  .superRefine(checkWindow)

export const DailyParameters = z
  .object({ ...windowFields(1, usualDays.daily), metrics: MetricNames })
  .superRefine(checkWindow)

const afterInvalid = 'after must be next of an answer'

export const AnomaliesParameters = z
  .object({
    ...windowFields(1, usualDays.anomalies),
    limit: wholeNumber('limit', 1, anomaliesMax).default(100),
    after: parameter(afterInvalid)
      .refine(text => AnomalyId.safeParse(text).success, afterInvalid)
      .optional()
      .meta(published({ type: 'string', description: 'next of the previous page' })),
    metrics: MetricNames,
  })
  .superRefine(checkWindow)

const forSecondsMax = 604_800

const metricInvalid = 'metric must be the name of a metric'

function threshold(name: string) {
  const error = `${name} must be a number`
  return parameter(error)
    .regex(/^-?\d{1,9}(?:\.\d{1,9})?$/, error)
    .transform(Number)
    .optional()
    .meta({ description: 'In the unit of the metric; one of the two thresholds is required' })
}

export const ExcursionsParameters = z
  .object({
    metric: parameter(metricInvalid).refine(isMetricName, metricInvalid),
    above: threshold('above'),
    below: threshold('below'),
    for: wholeNumber('for', 1, forSecondsMax)
      .default(0)
      .meta({ description: 'Seconds for which an excursion must last to count' }),
    start: moment('start', 'The first moment; without it and end, the last 7 days'),
    end: moment('end', 'Before this moment'),
  })
  .superRefine(({ above, below, start, end }, context) => {
    if (above === undefined && below === undefined) context.addIssue('above or below is required')
    if (start !== undefined || end !== undefined) checkRange(start, end, context)
  })
