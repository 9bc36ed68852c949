/** What may happen to an ingest path, as commands for fast-check, and one history of them run to its end. */

import fc from 'fast-check'
import { createWorld, customMax, devicesMax, type World } from './world.ts'

export interface Command {
  name: string
  run: (world: World) => Promise<void> | void
}

const seconds = fc.integer({ min: 1, max: 9 })
const given = fc.record({
  device: fc.nat(devicesMax - 1),
  agoS: fc.option(fc.integer({ min: 0, max: 60 }), { nil: undefined }),
  custom: fc.subarray(Array.from({ length: customMax }, (_, metric) => metric)),
})

/** Something is so for a while, in which time passes. */
function during(name: string, begin: (world: World) => void, end: (world: World) => void) {
  return seconds.map((s): Command => {
    async function run(world: World): Promise<void> {
      begin(world)
      await world.time.advance(s * 1000)
      end(world)
    }
    return { name: `${name} for ${s} s`, run }
  })
}

const append = fc.array(given, { minLength: 1, maxLength: 12 }).map((group): Command => {
  async function run(world: World): Promise<void> {
    world.append(group)
    await world.time.advance(200)
  }
  return { name: `append ${JSON.stringify(group)}`, run }
})

const pass = seconds.map((s): Command => ({ name: `${s} s pass`, run: world => world.time.advance(s * 1000) }))

const lossy = fc.nat(60).map(
  (percent): Command => ({
    name: `${percent} % of the requests go wrong`,
    run: ({ network }) => void Object.assign(network, { lossShare: percent / 100 }),
  }),
)

const diskFaults = fc.constantFrom(0, 0, 30).map(
  (percent): Command => ({
    name: `${percent} % of what the journal asks of its disk fails`,
    run: ({ trouble }) => void Object.assign(trouble, { diskFaultShare: percent / 100 }),
  }),
)

/** By little as often as by an hour or a year, there and back. */
const clockBy = fc.oneof(fc.integer({ min: -100, max: 100 }), fc.constantFrom(3600, -3600, 31_536_000, -31_536_000))
const clockIsSet = clockBy.map(
  (s): Command => ({
    name: `the clock is set by ${s} s`,
    run: ({ trouble }) => void Object.assign(trouble, { clockUs: trouble.clockUs + s * 1_000_000 }),
  }),
)

const eraseMetric = fc.tuple(fc.nat(devicesMax - 1), fc.nat(customMax - 1), seconds).map(
  ([device, metric, s]): Command => ({
    name: `metric ${metric} of device ${device} is erased, ${s} s pass`,
    run: async world => {
      world.eraseMetric(device, metric)
      await world.time.advance(s * 1000)
    },
  }),
)

const kill: Command = { name: 'kill', run: world => world.restart('kill') }
const powerCut: Command = { name: 'power cut', run: world => world.restart('power cut') }

const away = during(
  'QuestDB is killed and away',
  world => world.killQuestdb(),
  ({ questdb }) => void Object.assign(questdb, { away: false }),
)
const still = during(
  'QuestDB stands still',
  ({ network }) => network.freeze(),
  ({ network }) => network.thaw(),
)
const lagging = during(
  'QuestDB applies nothing',
  ({ questdb }) => void Object.assign(questdb, { holdsApply: true }),
  ({ questdb }) => void Object.assign(questdb, { holdsApply: false }),
)
const suspended = during(
  'the table is suspended',
  ({ questdb }) => void Object.assign(questdb, { suspended: { message: 'no space left on device' } }),
  ({ questdb }) => void Object.assign(questdb, { suspended: undefined }),
)
const broken = during(
  'QuestDB answers 500',
  ({ questdb }) =>
    void Object.assign(questdb, { answer: () => ({ kind: 'failed', status: 500, message: 'disk full' }) }),
  ({ questdb }) => void Object.assign(questdb, { answer: () => undefined }),
)

const anyCommand = fc.oneof(
  { arbitrary: append, weight: 14 },
  { arbitrary: pass, weight: 4 },
  { arbitrary: lossy, weight: 3 },
  { arbitrary: fc.constantFrom(kill, powerCut, powerCut), weight: 3 },
  { arbitrary: diskFaults, weight: 1 },
  { arbitrary: clockIsSet, weight: 3 },
  { arbitrary: fc.oneof(away, still), weight: 4 },
  { arbitrary: fc.oneof(lagging, lagging, suspended, broken), weight: 5 },
  { arbitrary: eraseMetric, weight: 4 },
)
export const commands = fc.array(anyCommand, { minLength: 5, maxLength: 40 })

/** All that is wrong when everything is back and the journal has been applied. */
export async function runHistory(seed: number, keepMs: number, history: Command[]): Promise<string[]> {
  const world = createWorld(seed, keepMs)
  for (const { run } of history) await run(world)
  world.network.lossShare = 0
  world.trouble.diskFaultShare = 0
  for (let tries = 0; tries < 200 && !world.isApplied(); tries++) await world.time.advance(1000)
  if (!world.isApplied()) return [`never applied: ${JSON.stringify(world.status())}`]
  await world.time.advance(2 * world.network.limboMs + 1000)
  return [...world.wrongs(), ...(await world.compare())]
}
