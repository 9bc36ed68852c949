import { setImmediate } from 'node:timers/promises'
import { test } from 'tap'
import { collectGarbage } from '../../service/run-service.ts'

test('unreferenced memory is freed at once in a Node without flags', async t => {
  t.notOk(globalThis.gc)
  const dropped = new WeakRef({})
  const held = {}
  const kept = new WeakRef(held)
  // A reference keeps its object until the end of its job.
  await setImmediate()
  t.ok(dropped.deref() !== undefined, 'nothing has been collected yet')
  await setImmediate()
  collectGarbage()
  t.equal(dropped.deref(), undefined)
  t.equal(kept.deref(), held)
})
