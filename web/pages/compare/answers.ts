/** What the page asks `compare_data` for. */

import type { Comparison as Answer } from '../../../query/shapes/compare.ts'
import type { Timed } from '../../client/timed.ts'

export type Comparison = Timed<Answer>
export type ComparePreset = Answer['preset']
export type ComparedMetric = Comparison['temperature']
export type Agreement = ComparedMetric['stats']
