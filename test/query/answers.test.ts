/** Answers of the analyses, made of series in memory. */

import t from 'tap'

// Tap runs no other test until the parent ends: the first part must not end before the last one is loaded.
t.test('the parts are loaded', () =>
  Promise.all([
    import('./answers/anomalies-answer.ts'),
    import('./answers/compare-answer.ts'),
    import('./answers/daily-answer.ts'),
    import('./answers/detail-answer.ts'),
    import('./answers/expired-samples.ts'),
    import('./hours/hours.ts'),
    import('./stats/edge-cases.ts'),
    import('./stats/findings.ts'),
    import('./stats/goldens.ts'),
    import('./stats/live.ts'),
  ]),
)
