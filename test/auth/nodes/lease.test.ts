/** How long a lease is valid, and when a new term of it begins. */

import { test } from 'tap'
import { Lease } from '../../../auth/nodes/lease.ts'

test('a lease ends by the clock that never steps, and by that of the wall', async t => {
  let wallMs = 1_000_000
  const lease = new Lease(60_000, () => wallMs)
  t.equal(lease.isValid(), false, 'before the first')
  const renewed = lease.begin()
  t.equal(lease.isValid(), false, 'before it was renewed')
  renewed()
  t.equal(lease.isValid(), true)
  wallMs += 59_999
  t.equal(lease.isValid(), true)
  wallMs += 1
  t.equal(lease.isValid(), false, 'a machine that was suspended')
  const short = new Lease(0, () => wallMs)
  short.begin()()
  t.equal(short.isValid(), false)
})

test('a lease has a new term when it is renewed after it had ended, by whichever clock, and only then', async t => {
  let wallMs = 1_000_000
  const lease = new Lease(60_000, () => wallMs)
  const before = lease.term()
  lease.begin()()
  const first = lease.term()
  t.ok(first > before)
  for (let i = 0; i < 3; i++) {
    wallMs += 59_999
    lease.begin()()
  }
  t.equal(lease.term(), first, 'it was renewed in time')

  wallMs += 59_000
  const late = lease.begin()
  wallMs += 1_000
  t.equal(lease.term(), first, 'nothing is let in without a lease, so there is no other term either')
  late()
  const second = lease.term()
  t.ok(second > first, 'it ended while the renewal was under way')

  lease.end()
  lease.begin()()
  t.ok(lease.term() > second, 'it was given up')
})
