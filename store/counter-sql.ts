/**
 * SQL for the increase that a value adds to a running total, from the two values before it in `before` and `earlier`. The rule is
 * in `increaseAt` of `analytics/counter/counter-increase.ts`. Null means no value: a comparison with it is false. QuestDB streams
 * `lag`, but holds all rows for `lead`.
 */

/** The text belongs in a select list over rows of `series`, `ts` and `value`. */
export const valuesBeforeSql =
  'lag(value) OVER (PARTITION BY series ORDER BY ts) before, lag(value, 2) OVER (PARTITION BY series ORDER BY ts) earlier'

const isFall = (before: string, after: string) => `(${after} < ${before} - abs(${before}) * 1e-9)`
const isSmall = (before: string, after: string) => `(${after} > ${before} - abs(${before}) * 0.099999999)`
const growth = (before: string, after: string) =>
  `(CASE WHEN ${after} > ${before} THEN ${after} - ${before} ELSE 0.0 END)`

const wasNoise = `${isFall('earlier', 'before')} AND (${isSmall('earlier', 'before')} OR before = 0) AND NOT ${isFall('earlier', 'value')}`
const ofFall = `(CASE WHEN ${isSmall('before', 'value')} THEN 0.0 ELSE value END)`

/** Growth since the previous value, or since the one before that where this value shows the previous one to be noise. */
export const ownIncreaseSql = `CASE WHEN ${wasNoise} THEN ${growth('earlier', 'value')} WHEN ${isFall('before', 'value')} THEN ${ofFall} ELSE ${growth('before', 'value')} END`

/** Increase by a small fall of the previous value, once this value confirms that it was a reset. */
export const confirmedIncreaseSql = `CASE WHEN ${isFall('earlier', 'before')} AND ${isSmall('earlier', 'before')} AND ${isFall('earlier', 'value')} THEN before ELSE 0.0 END`
