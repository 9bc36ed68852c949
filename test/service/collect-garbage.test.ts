import { setImmediate } from 'node:timers/promises'
import { test } from 'tap'
import { collectGarbage } from '../../service/run-service.ts'

test('what nobody holds is freed at once, in a Node that was started without flags', async t => {
  t.notOk(globalThis.gc)
  const dropped = new WeakRef({})
  const held = {}
  const kept = new WeakRef(held)
  // Until the end of its job, a reference holds what it is made of.
  await setImmediate()
  t.ok(dropped.deref() !== undefined, 'nothing has been collected yet')
  await setImmediate()
  collectGarbage()
  t.equal(dropped.deref(), undefined)
  t.equal(kept.deref(), held)
})
