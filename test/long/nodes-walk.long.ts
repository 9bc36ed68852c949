/**
 * Model: a random walk over accounts, sessions, keys, devices, stations and partners, each step at a random one of two nodes. When
 * a step is answered, each of them answers what a model says.
 */

import { randomInt } from 'node:crypto'
import t from 'tap'
import { createRandom } from '../faults/seeded-random.ts'
import { openCluster } from '../support/nodes.ts'
import { WalkWorld } from '../support/walk-world.ts'

const seed = Number(process.env['SEED'] ?? randomInt(2 ** 31))
const steps = Number(process.env['STEPS'] ?? 120)
const attemptsPerStep = 8

t.test(`each node answers what the model says (SEED=${seed})`, async t => {
  const random = createRandom(seed)
  const cluster = await openCluster(t)
  const settings = { FAILED_ATTEMPTS: '1000000' }
  const nodes = await Promise.all([cluster.start(settings), cluster.start(settings)])
  const world = new WalkWorld(random)
  await world.begin(nodes[0])
  const tried = new Set<number>()
  for (let at = 0; at < steps; at++) {
    const [name, step] = world.step()
    await step(random.pick(nodes))
    const attempts = world.attempts()
    for (let count = 0; count < attemptsPerStep && attempts.length > 0; count++) {
      const place = random.below(2)
      const attempt = attempts[random.below(attempts.length)]
      const status = await attempt?.try((nodes[place] ?? nodes[0]).url)
      tried.add(status ?? 0)
      if (status === attempt?.expected) continue
      t.fail(
        `${attempt?.name} got ${status} at node ${place} after step ${at}, ${name}; it should be ${attempt?.expected}`,
      )
      return
    }
  }
  t.ok(tried.size >= 4, `statuses that came back: ${[...tried].sort().join()}`)
})
