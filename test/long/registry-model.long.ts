/** The model of registries at several nodes over a long series of changes; the ordinary run has a short one. */

import { randomInt } from 'node:crypto'
import t from 'tap'
import { changeAtOnce, changeInTurn, startGuarded } from '../auth/nodes/registry-model.ts'

const seed = Number(process.env['SEED'] ?? randomInt(2 ** 31))
const changes = Number(process.env['CHANGES'] ?? 220)

t.test(`after each change every node has what one has that is loaded anew (SEED=${seed})`, async t => {
  await changeInTurn(t, await startGuarded(t), seed, changes)
})

t.test(`changes at all nodes at once leave all of them alike (SEED=${seed})`, async t => {
  await changeAtOnce(t, await startGuarded(t), seed, changes / 20)
})
