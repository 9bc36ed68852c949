/** The state of a topic against a model of plain values. */

import fc from 'fast-check'
import t from 'tap'
import { isWhole } from '../../ingest/forwarder/dead-letters.ts'
import { erasedCustom } from '../../ingest/journal/record.ts'
import { letterId } from '../../ingest/kafka/produce/group.ts'
import { LostReplica, type ReplicaState } from '../../ingest/kafka/state/state.ts'
import { sharedPostgres } from '../support/databases.ts'
import { createTopics, letter, type TestTopic } from '../support/replica-topics.ts'
import { runs } from '../support/runs.ts'

const { store } = await sharedPostgres(t)
const { openTopic, takeOver } = createTopics(store.postgres)

type GivenLetter = [offset: number, device: number, custom: number[]]

class Model {
  offset: number | undefined
  rewindTo: number | undefined
  readonly tombstones = new Map<number, number>()
  readonly letters = new Map<number, [device: number, custom: readonly number[]]>()

  get firstOffset(): number | undefined {
    return this.offset === undefined ? undefined : Math.min(this.offset, this.rewindTo ?? this.offset)
  }

  commit(offset: number, given: readonly GivenLetter[]): void {
    this.offset = Math.max(offset, this.offset ?? 0)
    for (const [at, device, custom] of given) {
      const isErased = (series: number) => this.tombstones.has(series)
      const id = letterId(at, 0)
      if (this.letters.has(id) || isErased(device)) continue
      this.letters.set(id, [device, custom.filter(series => !isErased(erasedCustom(series)))])
    }
  }

  addTombstones(all: readonly number[], before: number): void {
    for (const series of all) this.tombstones.set(series, Math.max(before, this.tombstones.get(series) ?? 0))
  }

  prune(start: number): void {
    for (const [series, before] of this.tombstones) if (before <= start) this.tombstones.delete(series)
  }

  erase(all: ReadonlySet<number>): void {
    for (const [id, [device, custom]] of this.letters) {
      if (all.has(device)) this.letters.delete(id)
      else this.letters.set(id, [device, custom.filter(series => !all.has(erasedCustom(series)))])
    }
  }

  takeRewind(): number | undefined {
    const taken = this.rewindTo
    this.offset = this.firstOffset
    this.rewindTo = undefined
    return taken
  }
}

interface World extends TestTopic {
  model: Model
}

interface Step {
  run(world: World): Promise<void>
  [fc.toStringMethod]: () => string
}

/** A failing run prints the step. */
function step<Given>(
  name: string,
  given: fc.Arbitrary<Given>,
  run: (world: World, given: Given) => Promise<void>,
): fc.Arbitrary<Step> {
  return given.map(values => ({
    run: world => run(world, values),
    [fc.toStringMethod]: () => `${name} ${JSON.stringify(values)}`,
  }))
}

const offset = fc.nat({ max: 6 })
const device = fc.integer({ min: 1, max: 4 })
const custom = fc.uniqueArray(fc.integer({ min: 1, max: 4 }), { maxLength: 3 })
const letters = fc.uniqueArray(fc.tuple(offset, device, custom), { maxLength: 3, selector: ([at]) => at })
const erased = fc.uniqueArray(fc.oneof(device, device.map(erasedCustom)), { minLength: 1, maxLength: 3 })
const nothing = fc.constant('')

const anyStep = fc.oneof(
  step('commit', fc.tuple(offset, letters), async ({ topic, state, model }, [to, given]) => {
    await state.commit(topic, to, given.map(lettersOf))
    model.commit(to, given)
  }),
  step('tombstones', fc.tuple(erased, offset), async ({ topic, state, model }, [series, before]) => {
    await state.addTombstones(topic, series, before)
    model.addTombstones(series, before)
  }),
  step('prune', offset, async ({ topic, state, model }, start) => {
    await state.pruneTombstones(topic, start)
    model.prune(start)
  }),
  step('erase', erased, async ({ topic, state, model }, series) => {
    await state.letters.erase(topic, new Set(series))
    model.erase(new Set(series))
  }),
  step('remove', offset, async ({ topic, state, model }, at) => {
    const removed = await state.letters.remove(topic, [letterId(at, 0)])
    t.equal(removed, model.letters.delete(letterId(at, 0)) ? 1 : 0)
  }),
  step('rewind', offset, async ({ topic, state, model }, to) => {
    await state.requestRewind(topic, to)
    model.rewindTo = Math.min(to, model.rewindTo ?? to)
  }),
  step('take rewind', nothing, async ({ topic, state, model }) => {
    t.equal(await state.takeRewind(topic), model.takeRewind())
  }),
  step('take over', nothing, async world => {
    const { topic, state, open } = world
    world.state = open(await takeOver())
    await t.rejects(state.commit(topic, 21, [letter(0, 1)]), LostReplica)
  }),
)

function lettersOf([at, device, custom]: GivenLetter) {
  return letter(at, device, custom)
}

async function seenIn(topic: string, state: ReplicaState) {
  const letters = (await state.letters.list(topic, -1, 99)).filter(isWhole)
  return {
    ...(await state.load(topic)),
    letters: letters.map(({ id, series, further = [] }) => [id, series, further.map(value => value.series)]),
  }
}

function expectedOf({ firstOffset, tombstones, letters }: Model) {
  return {
    offset: firstOffset,
    tombstones: [...tombstones].sort(([a], [b]) => a - b),
    letters: [...letters].sort(([a], [b]) => a - b).map(([id, [device, custom]]) => [id, device, custom]),
  }
}

t.test('any sequence of calls results in the state of the model', async t => {
  await fc.assert(
    fc.asyncProperty(fc.array(anyStep, { minLength: 20, maxLength: 40 }), async steps => {
      const world: World = { ...(await openTopic()), model: new Model() }
      for (const each of steps) {
        await each.run(world)
        t.strictSame(await seenIn(world.topic, world.state), expectedOf(world.model))
      }
    }),
    runs(8, 60),
  )
})
