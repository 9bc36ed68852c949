/**
 * Model: of several nodes each has in memory what one has that reads it all anew, after every change at any of them, whichever
 * it is. No change is written without a row of the feed.
 */

import { randomInt } from 'node:crypto'
import t from 'tap'
import { createRandom } from '../../faults/seeded-random.ts'
import { nowhere, startDatabases } from '../../support/databases.ts'
import { guardFeed } from '../../support/feed-guard.ts'
import { openNode, openRegistries, stateOf } from '../../support/registries.ts'
import { emptyWorld, registryChanges } from '../../support/registry-changes.ts'

const seed = Number(process.env['SEED'] ?? randomInt(2 ** 31))
const changes = Number(process.env['CHANGES'] ?? 220)

t.test(`after each change every node has what one has that is loaded anew (SEED=${seed})`, async t => {
  const { store } = await startDatabases(t, nowhere)
  await guardFeed(store.postgres)
  const nodes = [await openNode(t, store), await openNode(t, store)]
  const world = emptyWorld()
  const { below: draw } = createRandom(seed)
  const names = Object.keys(registryChanges)
  for (let at = 0; at < changes; at++) {
    // Each kind once at least, and at first what others rest on.
    const name =
      (at < 8
        ? ['add an account', 'add a device'][at % 2]
        : at < names.length + 8
          ? names[at - 8]
          : names[draw(names.length)]) ?? ''
    const node = nodes[draw(nodes.length)]
    if (node === undefined) throw new Error('there are nodes')
    await registryChanges[name]?.(node, world, draw)
    // What is made at first sight is answered at once.
    for (const { nodes: one } of nodes) await one.feed.settle()
    const anew = await openRegistries(store.postgres)
    const wanted = await stateOf(anew, world)
    for (const [place, one] of nodes.entries()) {
      t.strictSame(await stateOf(one, world), wanted, `node ${place} after change ${at}: ${name}`)
    }
    await anew.close()
  }
  t.strictSame(
    nodes.flatMap(({ fatal }) => fatal),
    [],
  )
})

t.test(`changes at all nodes at once leave all of them alike (SEED=${seed})`, async t => {
  const { store } = await startDatabases(t, nowhere)
  await guardFeed(store.postgres)
  const nodes = [await openNode(t, store), await openNode(t, store), await openNode(t, store)]
  const world = emptyWorld()
  const { below: draw } = createRandom(seed)
  const [first] = nodes
  for (const name of ['add an account', 'add an account', 'add a device', 'add a device', 'add a station']) {
    if (first !== undefined) await registryChanges[name]?.(first, world, draw)
  }
  const names = Object.keys(registryChanges)
  for (let round = 0; round < changes / 20; round++) {
    const works = nodes.flatMap(node =>
      Array.from({ length: 6 }, () => registryChanges[names[draw(names.length)] ?? '']?.(node, world, draw)),
    )
    for (const done of await Promise.allSettled(works)) {
      if (done.status === 'rejected') throw done.reason
    }
    // What is made at first sight is answered at once.
    for (const { nodes: one } of nodes) await one.feed.settle()
    const anew = await openRegistries(store.postgres)
    const wanted = await stateOf(anew, world)
    for (const [place, one] of nodes.entries()) {
      t.strictSame(await stateOf(one, world), wanted, `node ${place} after round ${round}`)
    }
    await anew.close()
  }
})
