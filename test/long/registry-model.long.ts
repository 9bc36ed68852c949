/** The model of registries at several nodes over a long series of changes. `npm test` has a short one. */

import { randomInt } from 'node:crypto'
import t from 'tap'
import { changeAtOnce, changeInTurn, startGuarded } from '../auth/nodes/registry-model.ts'

const seed = Number(process.env['SEED'] ?? randomInt(2 ** 31))
const changes = Number(process.env['CHANGES'] ?? 220)

t.test(`after each change every node's memory equals a fresh load (SEED=${seed})`, async t => {
  await changeInTurn(t, await startGuarded(t), seed, changes)
})

t.test(`concurrent changes at all nodes leave all memories equal (SEED=${seed})`, async t => {
  await changeAtOnce(t, await startGuarded(t), seed, changes / 20)
})
