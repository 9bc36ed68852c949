import fc from 'fast-check'
import { test } from 'tap'
import { runs } from '../support/runs.ts'
import { commands, runHistory } from './model/history.ts'
import { createWorld, customMax, devicesMax } from './model/world.ts'

const { numRuns: seeds } = runs(2, 20)
const { numRuns: manySeeds } = runs(6, 40)

test('the table shows what was acknowledged last, whatever happened on the way', async () => {
  const property = fc.asyncProperty(
    fc.nat(),
    fc.constantFrom(0, 3_600_000),
    commands,
    async (seed, keepMs, history) => {
      const wrong = await runHistory(seed, keepMs, history)
      if (wrong.length > 0) throw new Error(`${history.map(({ name }) => name).join('\n')}\n${wrong.join('\n')}`)
    },
  )
  await fc.assert(property, runs(8, 100))
})

test('a request that is carried out after its sender gave up undoes nothing newer', async t => {
  let late = 0
  for (let seed = 1; seed <= manySeeds; seed++) {
    const world = createWorld(seed, 0)
    world.network.lossShare = 1
    world.append([{ device: 1, agoS: 5, custom: [] }])
    await world.time.advance(300)
    world.network.lossShare = 0
    world.append([{ device: 1, agoS: 5, custom: [] }])
    await world.time.advance(40_000)
    late += world.network.lateCount
    t.strictSame(await world.compare(), [], `seed ${seed}`)
  }
  t.ok(late > 0, `${late} requests were carried out late`)
})

const readingAgo = (device: number, agoS: number) => ({ device, agoS, custom: [agoS % customMax] })

test('what a QuestDB that does not sync has applied is kept for it, though the clock goes on by a year before a restart', async t => {
  for (let seed = 1; seed <= seeds; seed++) {
    const world = createWorld(seed, 3_600_000)
    for (let group = 0; group < 5; group++) {
      world.append(Array.from({ length: 12 }, (_, index) => readingAgo(index % devicesMax, 5 * index)))
      await world.time.advance(2000)
    }
    await world.time.advance(20_000)
    world.trouble.clockUs += 31_536_000_000_000
    await world.restart('kill')
    await world.time.advance(10_000)
    world.killQuestdb()
    await world.time.advance(2000)
    world.questdb.away = false
    await world.time.advance(60_000)
    t.strictSame(await world.compare(), [], `seed ${seed}`)
  }
})

test('a reading without a custom value takes that of an older one away, though it is live and that one was late', async t => {
  for (let seed = 1; seed <= seeds; seed++) {
    const world = createWorld(seed, 0)
    world.network.lossShare = 1
    // The lane of late readings is at work on this one, and does not know the next one yet.
    world.append([{ device: 2, agoS: 59, custom: [] }])
    await world.time.advance(1000)
    world.append([{ device: 1, agoS: 59, custom: [0, 1] }])
    await world.time.advance(2000)
    world.trouble.clockUs -= 60_000_000
    world.append([{ device: 1, agoS: 0, custom: [1] }])
    await world.time.advance(3000)
    world.network.lossShare = 0
    await world.time.advance(120_000)
    t.ok(world.isApplied())
    t.strictSame(await world.compare(), [], `seed ${seed}`)
  }
})
