/** What `excursions` may be asked: a metric, thresholds, how long, and a range. */

import { z } from 'zod'
import { isMetricName } from '../../metrics/metric-name.ts'
import { momentForm } from '../http/time-forms.ts'
import { parameter, published, wholeNumber } from './parameter-kit.ts'
import { readMoment } from './readings-parameters.ts'

/** A week. */
const forSecondsMax = 604_800
/** A year and a leap day. */
const daysMax = 366
const dayUs = 86_400_000_000

const metricInvalid = 'metric must be the name of a metric'

function threshold(name: string) {
  const error = `${name} must be a number`
  return parameter(error)
    .regex(/^-?\d{1,9}(?:\.\d{1,9})?$/, error)
    .transform(Number)
    .optional()
    .meta({ description: 'In the unit of the metric; one of the two thresholds is required' })
}

function moment(name: string, description: string) {
  const error = `${name} must be ISO 8601 with a zone, or epoch milliseconds`
  return parameter(error)
    .transform((text, context) => {
      const timeUs = readMoment(text)
      if (timeUs === undefined) context.addIssue(error)
      return timeUs ?? z.NEVER
    })
    .optional()
    .meta(published({ type: 'string', pattern: momentForm, description }))
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
    if ((start === undefined) !== (end === undefined)) context.addIssue('start and end go together')
    if (start === undefined || end === undefined) return
    if (end <= start) context.addIssue('end must be after start')
    if (end - start > daysMax * dayUs) context.addIssue(`a range has at most ${daysMax} days`)
  })
