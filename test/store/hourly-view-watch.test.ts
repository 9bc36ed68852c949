import { test } from 'tap'
import { type ViewState, ViewWatch } from '../../store/questdb/hourly-view-watch.ts'

const minuteMs = 60_000

function watchAt() {
  const clock = { ms: 0 }
  const watch = new ViewWatch({ refreshEveryMs: 10 * minuteMs, graceMs: 2 * minuteMs, monotonicMs: () => clock.ms })
  const good: ViewState = {
    status: 'valid',
    reason: '',
    refreshedTxn: 5,
    sequencedTxn: 5,
    appliedTxn: 5,
    isOurs: true,
    isApplied: true,
    isSuspended: false,
  }
  /** What is done when this is seen so much later. `tableTxn` is the table's newest, which shows too. */
  const check = (change: (Partial<ViewState> & { tableTxn?: number }) | undefined, laterMs = 0) => {
    clock.ms += laterMs
    if (change === undefined) return watch.check(undefined).kind
    const { tableTxn = 5, ...others } = change
    return watch.check({ ...good, sequencedTxn: tableTxn, appliedTxn: tableTxn, ...others }).kind
  }
  return { clock, watch, check }
}

test('a view is valid when it has come to the transaction that the table had at first', async t => {
  const { watch, check } = watchAt()
  t.equal(check(undefined), 'rebuild', 'it is made')
  t.equal(check({ status: 'refreshing', refreshedTxn: -1, tableTxn: 7 }), 'none')
  t.equal(watch.validThroughTxn, undefined)
  t.equal(check({ refreshedTxn: 6, tableTxn: 9 }), 'refresh')
  t.equal(watch.validThroughTxn, undefined, 'what others had sent before us may be missing')
  check({ refreshedTxn: 9, tableTxn: 9, isApplied: false })
  t.equal(watch.validThroughTxn, undefined, 'it does not show yet')
  check({ refreshedTxn: 9, tableTxn: 9 })
  t.equal(watch.validThroughTxn, 9)
  check({ refreshedTxn: 12, tableTxn: 12, isApplied: false })
  t.equal(watch.validThroughTxn, 9, 'of what is being merged nothing is known')
  watch.invalidate()
  t.equal(watch.validThroughTxn, undefined)
})

test('a view is refreshed when the table has more, not too often and not at the cost of others', async t => {
  const { check } = watchAt()
  t.equal(check({}), 'none', 'there is nothing new')
  t.equal(check({ tableTxn: 6 }), 'refresh')
  t.equal(check({ tableTxn: 7, status: 'refreshing' }, minuteMs), 'none')
  t.equal(check({ tableTxn: 9, refreshedTxn: 7 }, minuteMs), 'none')
  t.equal(
    check({ tableTxn: 9, refreshedTxn: 7 }, 10 * minuteMs),
    'none',
    'it took two minutes, so it has a longer pause',
  )
  t.equal(check({ tableTxn: 9, refreshedTxn: 7 }, 9 * minuteMs), 'refresh')
})

test('rows that do not show yet are nothing to refresh, and what shows later is needed', async t => {
  const { watch, check } = watchAt()
  for (let hour = 0; hour < 5; hour++) {
    t.equal(check({ refreshedTxn: 5, sequencedTxn: 8, appliedTxn: 5 }, 60 * minuteMs), 'none')
    t.equal(watch.validThroughTxn, undefined)
  }
  t.equal(check({ refreshedTxn: 5, tableTxn: 8 }), 'refresh')
  check({ refreshedTxn: 8, tableTxn: 8 })
  t.equal(watch.validThroughTxn, 8)
})

test('a refresh that is dropped is asked for again, and in the end the view is rebuilt', async t => {
  const { watch, check } = watchAt()
  check({})
  const done = Array.from({ length: 8 }, () => check({ tableTxn: 8 }, 10 * minuteMs))
  t.strictSame(done, [...Array.from({ length: 7 }, () => 'refresh'), 'none'])
  t.equal(check({ tableTxn: 8 }, 2 * minuteMs), 'rebuild')
  t.equal(watch.validThroughTxn, undefined)
})

test('a fault has the view made anew, at growing pauses while that does not help', async t => {
  for (const fault of [
    { status: 'invalid', reason: 'truncate operation' },
    { isOurs: false },
    { isSuspended: true },
    { refreshedTxn: 6 },
    { tableTxn: 4, refreshedTxn: 4 },
  ]) {
    const { watch, check } = watchAt()
    check({})
    t.equal(watch.validThroughTxn, 5)
    t.equal(check(fault), 'none', 'somebody may still ask it')
    t.equal(watch.validThroughTxn, undefined)
    t.equal(check({ refreshedTxn: 9, tableTxn: 9 }, minuteMs), 'none', 'it stays a fault')
    t.equal(watch.validThroughTxn, undefined)
    t.equal(check(fault, minuteMs), 'rebuild', JSON.stringify(fault))
    let made = 0
    for (let second = 0; second < 86_400; second += 5) if (check({ status: 'invalid' }, 5000) === 'rebuild') made++
    t.ok(made > 20 && made < 40, `${made} times in a day`)
    while (check({ status: 'invalid' }, 5000) !== 'rebuild') made++
    check({ refreshedTxn: 20, tableTxn: 20 }, 5000)
    t.equal(watch.validThroughTxn, 20)
    check({ refreshedTxn: 20, tableTxn: 20 }, 3_600_000)
    check({ status: 'invalid' }, 5000)
    t.equal(check({ status: 'invalid' }, 2 * minuteMs), 'rebuild', 'a new fault begins with short pauses')
    t.equal(check({ status: 'invalid' }, 15_000), 'rebuild')
  }
})

test('a view that may hold what was lost is rebuilt', async t => {
  const { watch, check } = watchAt()
  check({})
  watch.markSuspect('of a test')
  t.equal(watch.validThroughTxn, undefined)
  t.equal(check({}), 'none')
  t.equal(watch.validThroughTxn, undefined)
  t.equal(check({}, 2 * minuteMs), 'rebuild')
  t.equal(check({ status: 'refreshing', refreshedTxn: -1 }), 'none')
  check({ refreshedTxn: 7, tableTxn: 7 })
  t.equal(watch.validThroughTxn, 7)
})
