/**
 * The reasons for null figures in answers: all codes in one place. `docs/statistics.md` explains them,
 * `web/text/reason-words.ts` has the words of the pages, and a test produces each of them.
 */

/** Used beside a `status` or in a part without figures. */
export const reasons = {
  noValue: 'no_value',
  doesNotVary: 'no_variation',
  fewCells: 'few_cells',
  shortSpan: 'short_span',
  sparseCells: 'sparse_cells',
  sparseHours: 'sparse_hours',
  fewDays: 'few_days',
  longMemory: 'long_memory',
  testsDisagree: 'tests_disagree',
  fewLevels: 'few_levels',
  fewSameHours: 'few_same_hours',
  shortHistory: 'short_history',
  noHours: 'no_hours',
  noAltitude: 'no_altitude',
  fewWholeDays: 'few_whole_days',
  longRange: 'long_range',
  sparseReadings: 'sparse_readings',
  noPeriod: 'no_period',
  slowReadings: 'slow_readings',
  nearlyConstant: 'nearly_constant',
} as const

export type Reason = (typeof reasons)[keyof typeof reasons]

/** Used for pairs of series in `correlations` and `compare_data`. */
export const pairReasons = [
  'no_data',
  'insufficient_data',
  'constant',
  'too_few_independent',
  'lag_not_significant',
] as const

export type PairReason = (typeof pairReasons)[number]
