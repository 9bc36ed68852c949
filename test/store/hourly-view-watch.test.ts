import { test } from 'tap'
import { type ViewSeen, ViewWatch } from '../../store/hourly-view-watch.ts'

const minuteMs = 60_000

function watchAt() {
  const clock = { ms: 0 }
  const watch = new ViewWatch({ refreshEveryMs: 10 * minuteMs, monotonicMs: () => clock.ms })
  const good: ViewSeen = {
    ...{ status: 'valid', reason: '', refreshedTxn: 5, tableTxn: 5 },
    ...{ isOurs: true, isApplied: true, isSuspended: false },
  }
  /** What is done when this is seen so much later. */
  const look = (change: Partial<ViewSeen> | undefined, laterMs = 0) => {
    clock.ms += laterMs
    return watch.look(change === undefined ? undefined : { ...good, ...change }).kind
  }
  return { clock, watch, look }
}

test('a view is trusted when it has come to the transaction that the table had at first', async t => {
  const { watch, look } = watchAt()
  t.equal(look(undefined), 'rebuild', 'it is made')
  t.equal(look({ status: 'refreshing', refreshedTxn: -1, tableTxn: 7 }), 'none')
  t.equal(watch.trustedTxn, undefined)
  t.equal(look({ refreshedTxn: 6, tableTxn: 9 }), 'refresh')
  t.equal(watch.trustedTxn, undefined, 'what others had sent before us may be missing')
  look({ refreshedTxn: 9, tableTxn: 9, isApplied: false })
  t.equal(watch.trustedTxn, undefined, 'it does not show yet')
  look({ refreshedTxn: 9, tableTxn: 9 })
  t.equal(watch.trustedTxn, 9)
  look({ refreshedTxn: 12, tableTxn: 12, isApplied: false })
  t.equal(watch.trustedTxn, 9, 'of what is being merged nothing is known')
  watch.lose()
  t.equal(watch.trustedTxn, undefined)
})

test('a view is refreshed when the table has more, not too often and not at the cost of others', async t => {
  const { look } = watchAt()
  t.equal(look({}), 'none', 'there is nothing new')
  t.equal(look({ tableTxn: 6 }), 'refresh')
  t.equal(look({ tableTxn: 7, status: 'refreshing' }, minuteMs), 'none')
  t.equal(look({ tableTxn: 9, refreshedTxn: 7 }, minuteMs), 'none')
  t.equal(
    look({ tableTxn: 9, refreshedTxn: 7 }, 10 * minuteMs),
    'none',
    'it took two minutes, so it has a longer pause',
  )
  t.equal(look({ tableTxn: 9, refreshedTxn: 7 }, 9 * minuteMs), 'refresh')
})

test('a refresh that is dropped is asked for again, and in the end the view is made anew', async t => {
  const { watch, look } = watchAt()
  const done = Array.from({ length: 8 }, () => look({ tableTxn: 8 }, 10 * minuteMs))
  t.strictSame(done, [...Array.from({ length: 7 }, () => 'refresh'), 'rebuild'])
  t.equal(watch.trustedTxn, undefined)
})

test('a fault has the view made anew, at growing pauses while that does not help', async t => {
  for (const fault of [
    { status: 'invalid', reason: 'truncate operation' },
    { isOurs: false },
    { isSuspended: true },
    { refreshedTxn: 6 },
    { tableTxn: 4, refreshedTxn: 4 },
  ]) {
    const { watch, look } = watchAt()
    look({})
    t.equal(watch.trustedTxn, 5)
    t.equal(look(fault), 'rebuild', JSON.stringify(fault))
    t.equal(watch.trustedTxn, undefined)
    let made = 0
    for (let second = 0; second < 86_400; second += 5) if (look({ status: 'invalid' }, 5000) === 'rebuild') made++
    t.ok(made > 20 && made < 40, `${made} times in a day`)
    look({ refreshedTxn: 20, tableTxn: 20 }, 5000)
    t.equal(watch.trustedTxn, 20)
    look({ refreshedTxn: 20, tableTxn: 20 }, 3_600_000)
    t.equal(look({ status: 'invalid' }, 5000), 'rebuild', 'a new fault does not wait')
    t.equal(look({ status: 'invalid' }, 15_000), 'rebuild', 'and begins with short pauses')
  }
})

test('a view that may hold what was lost is made anew', async t => {
  const { watch, look } = watchAt()
  look({})
  watch.distrust('of a test')
  t.equal(watch.trustedTxn, undefined)
  t.equal(look({}), 'rebuild')
  t.equal(look({ status: 'refreshing', refreshedTxn: -1 }), 'none')
  look({ refreshedTxn: 7, tableTxn: 7 })
  t.equal(watch.trustedTxn, 7)
})
