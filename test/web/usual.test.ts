/** Whether a value is usual for its hour, as the page of a device tells it. */

import t from 'tap'
import { usualText } from '../../web/pages/device/now-notes.ts'

t.test('what is beyond the middle four fifths of the days is told with their number', async t => {
  const told = (percentile: number, days = 29) => usualText({ kind: 'usual', percentile, days })
  t.equal(told(50), 'usual for this hour')
  t.equal(told(89), 'usual for this hour')
  t.equal(told(93.1), 'higher than on 27 of 29 days at this hour')
  t.equal(told(100), 'higher than on 29 of 29 days at this hour')
  t.equal(told(3.4), 'lower than on 28 of 29 days at this hour')
  t.equal(told(0), 'lower than on 29 of 29 days at this hour')
})
