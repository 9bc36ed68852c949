/** Declares the parameters of `excursions`: a metric, thresholds, a duration and a range. */

import { z } from 'zod'
import { isMetricName } from '../../store/metrics/metric-name.ts'
import { parameter, wholeNumber } from './parameter-kit.ts'
import { checkRange, moment } from './window-parameter.ts'

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
