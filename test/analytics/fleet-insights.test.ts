/** Outliers among the devices of a fleet, against figures that were computed elsewhere. */

import { test } from 'tap'
import { findOutliers } from '../../analytics/fleet/outliers.ts'

test('outliers are beyond 3.5 by the modified z-score', async t => {
  // numpy's median and scipy's median_abs_deviation: 2.45 and 0.15, so 8.3 scores 0.6745 · 5.85 / 0.15.
  const values = [2.1, 2.6, 2.4, 2.5, 2.3, 2.1, 2.3, 2.6, 8.2, 8.3]
  const found = findOutliers(values)
  t.equal(found?.median, 2.45)
  t.strictSame(
    found?.outliers.map(({ index, score }) => [index, Math.round(score * 100) / 100]),
    [
      [9, 26.31],
      [8, 25.86],
    ],
  )
  t.equal(findOutliers(values.slice(3)), undefined, 'seven are too few')
  t.equal(findOutliers([1, 1, 1, 1, 1, 1, 2, 100]), undefined, 'half of them are the same')
  t.strictSame(findOutliers([1, 2, 3, 4, 5, 6, 7, 8])?.outliers, [])
  t.strictSame(values, [2.1, 2.6, 2.4, 2.5, 2.3, 2.1, 2.3, 2.6, 8.2, 8.3], 'the values stay as they are')
})
