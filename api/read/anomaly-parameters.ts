/** Declares the parameters of `anomalies`: a window and a page of it. */

import { z } from 'zod'
import { AnomalyId, anomaliesMax } from '../../query/shapes/anomalies.ts'
import { usualDays } from './analysis-parameters.ts'
import { MetricNames } from './custom-metrics.ts'
import { parameter, published, wholeNumber } from './parameter-kit.ts'
import { checkWindow, windowFields } from './window-parameter.ts'

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
