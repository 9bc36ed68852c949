/** The model of registries at several nodes, once for each kind of change; `test/long/` has a long series. */

import t from 'tap'
import { changeAtOnce, changeInTurn, kindsOfChanges, startGuarded } from './registry-model.ts'

t.test('after each change every node has what one has that is loaded anew', async t => {
  await changeInTurn(t, await startGuarded(t), 1, kindsOfChanges.length + 8)
})

t.test('changes at all nodes at once leave all of them alike', async t => {
  await changeAtOnce(t, await startGuarded(t), 1, 3)
})
