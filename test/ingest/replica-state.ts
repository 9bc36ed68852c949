/** The state of replicas in a real PostgreSQL. */

import { setTimeout as sleep } from 'node:timers/promises'
import fc from 'fast-check'
import t from 'tap'
import { type DeadLetter, deadLettersMax, isWhole } from '../../ingest/forwarder/dead-letters.ts'
import { statusBefore } from '../../ingest/forwarder/forwarder-status.ts'
import { erasedCustom } from '../../ingest/journal/record.ts'
import { letterId } from '../../ingest/kafka/produce/group.ts'
import { TooManyLetters } from '../../ingest/kafka/state/letters.ts'
import { createReplicaState } from '../../ingest/kafka/state/state.ts'
import { isUnavailable } from '../../store/postgres/postgres-errors.ts'
import { breakingPool } from '../support/breaking-pool.ts'
import { sharedPostgres } from '../support/databases.ts'
import { freeze } from '../support/frozen.ts'
import { serverPid, until } from '../support/processes.ts'
import { createTopics, letter, valueOfSeries } from '../support/replica-topics.ts'

const { store, directory } = await sharedPostgres(t)
const { postgres } = store

const { openTopic, takeOver } = createTopics(postgres)

t.test('the applied offset may be ahead of the committed one until a rewind', async t => {
  const { topic, state } = await openTopic()
  const published = (applied: number) => ({ tenure: 1, losses: 0, applied, forwarder: statusBefore('it is a test') })
  t.equal(await state.appliedOffset(topic), undefined)
  await state.publish(topic, published(0))
  t.equal(await state.appliedOffset(topic), undefined, 'nothing was committed')
  await state.commit(topic, 5, [])
  t.equal(await state.appliedOffset(topic), 5, 'nothing more was published')
  await state.commit(topic, 5, [], published(9))
  t.equal(await state.appliedOffset(topic), 9)
  await state.requestRewind(topic, 7)
  t.equal(await state.appliedOffset(topic), 7)
  t.equal(await state.takeRewind(topic), 7)
  t.equal((await state.load(topic)).offset, 5)
  t.equal(await state.appliedOffset(topic), 5, 'until more is published')
  await state.publish(topic, published(8))
  await state.requestRewind(topic, 8)
  await state.takeRewind(topic)
  t.equal(await state.appliedOffset(topic), 8, 'it is not sent again')
  await state.publish(topic, { ...published(5), appliedBefore: 8 })
  t.equal(await state.appliedOffset(topic), 8, 'another process has sent nothing yet')
  await state.publish(topic, { ...published(9), appliedBefore: 8 })
  t.equal(await state.appliedOffset(topic), 9)
  await state.publish(topic, { ...published(5), appliedBefore: 8 })
  await state.requestRewind(topic, 7)
  t.equal(await state.takeRewind(topic), 7)
  t.equal(await state.appliedOffset(topic), 5)
})

t.test('offsets of commits and tombstones only rise, those of rewinds only fall', async t => {
  const { topic, state } = await openTopic()
  for (const to of [5, 3]) await state.commit(topic, to, [])
  for (const before of [4, 6, 2]) await state.addTombstones(topic, [9], before)
  await state.addTombstones(topic, [8], 3)
  t.strictSame(await state.load(topic), {
    offset: 5,
    tombstones: [
      [8, 3],
      [9, 6],
    ],
  })
  await state.pruneTombstones(topic, 3)
  for (const to of [4, 2, 3]) await state.requestRewind(topic, to)
  t.strictSame(await state.load(topic), { offset: 2, tombstones: [[9, 6]] })
  t.strictSame([await state.takeRewind(topic), await state.takeRewind(topic)], [2, undefined])
  t.equal((await state.load(topic)).offset, 2)
})

t.test('a replica that is being committed for is taken over afterwards', async t => {
  const { topic, state } = await openTopic()
  const client = await store.connectPostgres()
  t.teardown(() => client.end())
  // The commit has the epoch, and waits for the topic.
  await client.query('BEGIN')
  await client.query('INSERT INTO replica_topics (topic) VALUES ($1)', [topic])
  const committing = state.commit(topic, 5, [])
  const waiting = async () => (await postgres.query('SELECT FROM pg_locks WHERE NOT granted')).rowCount
  await until('the commit waits', async () => (await waiting()) === 1)
  const taking = takeOver()
  await until('the other process waits', async () => (await waiting()) === 2)
  await client.query('COMMIT')
  await Promise.all([committing, taking])
  t.equal((await state.load(topic)).offset, 5)
})

t.test('letters are committed once, listed in their order, and removed', async t => {
  const { topic, state } = await openTopic()
  const letters = [letter(7, 1), letter(2, 2, [11]), letter(7, 3, [], 1)]
  await state.commit(topic, 8, letters)
  await state.commit(topic, 8, [letter(7, 9), letter(7, 4, [], 2)])
  const all = (await state.letters.list(topic, -1, 10)).filter(isWhole)
  const wanted = [letters[1], letters[0], letters[2], letter(7, 4, [], 2)]
  t.strictSame(all, wanted)
  t.strictSame(
    all.map(each => Object.keys(each.values).join()),
    wanted.map(each => Object.keys(each?.values ?? {}).join()),
    'values in the order of the columns',
  )
  t.strictSame(await state.letters.list(topic, letterId(2, 0), 2), wanted.slice(1, 3))
  t.strictSame(await state.letters.list('another topic', -1, 10), [])
  t.equal(await state.letters.remove(topic, [letterId(7, 0), letterId(7, 2), letterId(9, 9)]), 2)
  t.strictSame(await state.letters.list(topic, -1, 10), [letters[1], letters[2]])
  t.equal((await state.load(topic)).offset, 8)
})

t.test('a reason that PostgreSQL cannot store is changed, and too many letters are refused', async t => {
  const { topic, state } = await openTopic()
  await state.commit(topic, 1, [letter(0, 1, [], 0, 'a\0b\ud800c')])
  t.match(await state.letters.list(topic, -1, 1), [{ reason: 'a\ufffdb\ufffdc' }])
  const many = Array.from({ length: deadLettersMax }, (_, index) => letter(1, 1, [], index))
  await t.rejects(state.commit(topic, 2, many), new TooManyLetters(topic))
  t.equal((await state.load(topic)).offset, 1)
  await state.commit(topic, 2, many.slice(1))
  await state.commit(topic, 3, many.slice(1))
  t.equal((await state.load(topic)).offset, 3, 'those that are there are no more')
  const erased = new Set([1])
  await state.letters.erase(topic, erased)
  t.strictSame(await state.letters.list(topic, -1, 1), [], 'they are erased piece by piece')
})

t.test('letters lose erased values even if they are committed later', async t => {
  const { topic, state } = await openTopic()
  const erased = [5, erasedCustom(11)]
  const letters = (at: number) => [
    letter(at, 5, [12]),
    letter(at, 6, [11, 12], 1),
    letter(at, 7, [11], 2),
    letter(at, 8, [], 3),
  ]
  const left = (at: number) => [letter(at, 6, [12], 1), letter(at, 7, [], 2), letter(at, 8, [], 3)]
  await state.commit(topic, 1, letters(0))
  await state.addTombstones(topic, erased, 3)
  await state.letters.erase(topic, new Set(erased))
  const shown = async () => (await state.letters.list(topic, -1, 99)).filter(isWhole).map(({ record, ...each }) => each)
  const expected = (all: DeadLetter[]) => all.map(({ record, ...each }) => each)
  t.strictSame(await shown(), expected(left(0)))
  await state.commit(topic, 4, [...letters(2), ...letters(3)])
  t.strictSame(await shown(), expected([...left(0), ...left(2), ...left(3)]))
  const { rows } = await postgres.query(
    'SELECT id::float8 FROM replica_dead_letters WHERE topic = $1 AND position($2::bytea IN record) > 0 ORDER BY id',
    [topic, Buffer.from(new Float64Array([valueOfSeries(11)]).buffer)],
  )
  t.strictSame(rows, [], 'the value is in the bytes of none, also of those behind the offset of the tombstone')
})

t.test('no letter escapes an erase that runs beside a commit', async t => {
  const { topic, state } = await openTopic()
  for (let at = 0; at < 30; at++) {
    const series = 100 + at
    const committing = state.commit(topic, at + 1, [letter(at, series)])
    await sleep(at % 5)
    await state.addTombstones(topic, [series], at + 1)
    await Promise.all([state.letters.erase(topic, new Set([series])), committing])
  }
  // A commit that came later than the tombstone has left the letter out, and an earlier one was waited for.
  t.strictSame(await state.letters.list(topic, -1, 99), [])
})

t.test('an erase returns the names of damaged letters that may hold its values', async t => {
  const { topic, state } = await openTopic()
  // More than are looked at together.
  const behind = Array.from({ length: 250 }, (_, at) => letter(1 + at, 6, [11]))
  await state.commit(topic, 300, [letter(0, 6, [11]), ...behind])
  await postgres.query("UPDATE replica_dead_letters SET record = '\\x00' WHERE topic = $1 AND id = 0", [topic])
  const name = `dead letter 0 of topic ${topic}`
  t.strictSame(await state.letters.erase(topic, new Set([erasedCustom(11)])), [name])
  const listed = await state.letters.list(topic, -1, 999)
  t.equal(listed.length, 251)
  const damage = 'it holds no record of readings'
  t.strictSame(listed[0], { id: 0, name, damage })
  t.strictSame(
    listed.slice(1).filter(each => 'custom' in each),
    [],
  )
  t.strictSame(await state.letters.erase(topic, new Set([6])), [], 'the series of a letter is a column of its own')
  t.strictSame(await state.letters.list(topic, -1, 9), [])
})

t.test('without PostgreSQL each method fails and can be repeated', async t => {
  let breaks: 'before' | 'after' | undefined
  const { topic, state } = await openTopic(breakingPool(() => breaks, postgres))
  const calls = [
    () => state.commit(topic, 5, [letter(4, 1)]),
    () => state.addTombstones(topic, [9], 5),
    () => state.requestRewind(topic, 3),
    () => state.takeRewind(topic),
    () => state.pruneTombstones(topic, 1),
    () => state.load(topic),
    () => state.letters.list(topic, -1, 1),
    () => state.letters.remove(topic, [1]),
    () => state.letters.erase(topic, new Set([2])),
  ]
  for (const call of calls) {
    for (const when of ['before', 'after'] as const) {
      breaks = when
      const error = await Promise.resolve(call()).catch((error: unknown) => error)
      if (when === 'before') t.ok(isUnavailable(error))
    }
    breaks = undefined
    await call()
  }
  t.strictSame(await state.load(topic), { offset: 3, tombstones: [[9, 5]] })
  t.strictSame(await state.letters.list(topic, -1, 9), [letter(4, 1)])
})

t.test('a frozen PostgreSQL fails a call in time without loss', async t => {
  const { topic, state, open } = await openTopic()
  await state.commit(topic, 1, [])
  const tenure = { replica: 1, epoch: 0, holder: 'a' }
  const impatient = createReplicaState({ pool: postgres, tenure, tables: new Map(), stepMs: 500 })
  const goOn = freeze(serverPid(directory, 'postgres'))
  t.teardown(goOn)
  const error = await impatient.commit(topic, 2, []).catch((error: unknown) => error)
  goOn()
  t.ok(isUnavailable(error), String(error))
  await open(await takeOver()).commit(topic, 3, [])
  t.equal((await state.load(topic)).offset, 3)
})

t.test('ids of letters are in the order of the topic', async t => {
  fc.assert(
    fc.property(fc.nat({ max: 2 ** 36 - 1 }), fc.nat({ max: 2 ** 17 - 1 }), (offset, index) => {
      const id = letterId(offset, index)
      if (index > 0) t.ok(letterId(offset, index - 1) < id)
      if (offset > 0) t.ok(letterId(offset - 1, 2 ** 17 - 1) < id)
    }),
  )
  t.throws(() => letterId(2 ** 36, 0), /BUG/)
  t.throws(() => letterId(0, 2 ** 17), /BUG/)
})
