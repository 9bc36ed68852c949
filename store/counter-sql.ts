/**
 * SQL of what a value adds to the increase of a running total, by the two values before it in `before` and `earlier`:
 * `increaseAt` of `analytics/counter/counter-increase.ts`, whose comments have the rule. Null is no value: a comparison with it
 * is false. QuestDB streams `lag`, but holds all rows for `lead`.
 */

/** For a select list over rows of `series`, `ts` and `value`. */
export const valuesBeforeSql =
  'lag(value) OVER (PARTITION BY series ORDER BY ts) before, lag(value, 2) OVER (PARTITION BY series ORDER BY ts) earlier'

const isFall = (before: string, after: string) => `(${after} < ${before} - abs(${before}) * 1e-9)`
const isSmall = (before: string, after: string) => `(${after} > ${before} - abs(${before}) * 0.099999999)`
const growth = (before: string, after: string) =>
  `(CASE WHEN ${after} > ${before} THEN ${after} - ${before} ELSE 0.0 END)`

const wasNoise = `${isFall('earlier', 'before')} AND (${isSmall('earlier', 'before')} OR before = 0) AND NOT ${isFall('earlier', 'value')}`
const ofFall = `(CASE WHEN ${isSmall('before', 'value')} THEN 0.0 ELSE value END)`

/** From the value before, or from the one before that where the value shows the other to be noise. */
export const ownIncreaseSql = `CASE WHEN ${wasNoise} THEN ${growth('earlier', 'value')} WHEN ${isFall('before', 'value')} THEN ${ofFall} ELSE ${growth('before', 'value')} END`

/** Of a small fall of the value before, which the value shows to be a reset. */
export const confirmedIncreaseSql = `CASE WHEN ${isFall('earlier', 'before')} AND ${isSmall('earlier', 'before')} AND ${isFall('earlier', 'value')} THEN before ELSE 0.0 END`
