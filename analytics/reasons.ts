/**
 * Why a figure of an answer is null: every reason that an answer can give, in one place. `docs/statistics.md` explains
 * them, and a test meets each of them in an answer.
 */

/** Texts, beside a `status` or in the part that has no figures. */
export const reasonTexts = {
  noValue: 'no value in the window',
  doesNotVary: 'the values do not vary',
  fewCells: 'values in fewer than 30 cells',
  shortSpan: 'less than 3 days',
  sparseCells: 'values in less than 50 % of the cells',
  sparseHours: 'values in less than 60 % of the hours',
  fewDays: 'values on fewer than 10 days, or the same on all of them',
  longMemory: 'the values hang together too long to tell a trend',
  testsDisagree: 'the tests do not agree',
  fewLevels: 'values on fewer than 20 days',
  fewSameHours: 'values at this hour on fewer than 10 days',
  shortHistory: 'less than 14 days',
  noHours: 'no hour has all of the values needed',
  noAltitude: 'the altitude is not known',
  fewWholeDays: 'no day has values in 18 of its hours',
  longRange: 'more than 31 days',
  sparseReadings: 'readings more than 10 minutes apart',
  noPeriod: 'no period stands out',
  nearlyConstant: 'the values vary by less than half a step of the sensor',
} as const

export type ReasonText = (typeof reasonTexts)[keyof typeof reasonTexts]

/** Codes, of pairs of series in `correlations` and `compare_data`. */
export const pairReasons = [
  'no_data',
  'insufficient_data',
  'constant',
  'too_few_independent',
  'lag_not_significant',
] as const

export type PairReason = (typeof pairReasons)[number]
