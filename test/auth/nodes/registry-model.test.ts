/** The model of registries at several nodes, once for each kind of change. `test/long/` has a long series. */

import t from 'tap'
import { changeAtOnce, changeInTurn, kindsOfChanges, startGuarded } from './registry-model.ts'

t.test("after each change every node's memory equals a fresh load", async t => {
  await changeInTurn(t, await startGuarded(t), 1, kindsOfChanges.length + 8)
})

t.test('concurrent changes at all nodes leave all memories equal', async t => {
  await changeAtOnce(t, await startGuarded(t), 1, 3)
})
