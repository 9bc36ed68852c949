import { test } from 'tap'
import { minus, slopeOf, sumOf, threadTimes } from '../../bench/thread-times.ts'

test('the cost of a row is told from that of a run', t => {
  const small = { rows: 100, times: { main: 1.1, journal: 0.5 } }
  const large = { rows: 400, times: { main: 1.4, journal: 2 } }
  const { perRow, fixed } = slopeOf(small, large)
  t.match(
    [perRow['main'], perRow['journal']].map(seconds => seconds?.toFixed(6)),
    ['0.001000', '0.005000'],
  )
  t.match(
    [fixed['main'], fixed['journal']].map(seconds => Math.abs(seconds ?? 0).toFixed(6)),
    ['1.000000', '0.000000'],
  )
  t.equal(sumOf({ main: 1, journal: 2 }), 3)
  t.end()
})

test('the threads of this process have times that grow', { skip: process.platform !== 'linux' }, t => {
  const before = threadTimes(process.pid)
  let sum = 0
  while (minus(threadTimes(process.pid), before)['main'] === 0) sum += Math.sqrt(sum + 1)
  t.ok((before['main'] ?? 0) > 0)
  t.ok('helpers of V8' in before)
  t.end()
})
