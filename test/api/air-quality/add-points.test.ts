/** Points of a request on their way to the journal: each is in its records, and the answer waits for all of them. */

import { setImmediate as turn } from 'node:timers/promises'
import { fastify } from 'fastify'
import { type Test, test } from 'tap'
import { addPointsOperation } from '../../../api/air-quality/add-points.ts'
import type { OperationInput } from '../../../api/air-quality/operation.ts'
import { readPointsBody } from '../../../ingest/import/points-body.ts'
import type { Outcome } from '../../../ingest/journal/outcome.ts'
import { readRecord } from '../../../ingest/journal/record.ts'
import { points } from '../../../ingest/points-table.ts'
import { appendInPieces } from '../../../ingest/write-path.ts'

const nowUs = Date.parse('2026-05-30T02:20:00Z') * 1000
const series = new Map([
  ['pm25', 41],
  ['no2', 42],
])

const minute = (at: number) => `2026-05-30T02:${String(at).padStart(2, '0')}:00`
const pointsAt = (count: number) =>
  Array.from({ length: count }, (_, at) => {
    return { parameter: at % 2 === 0 ? 'pm25' : 'no2', unit: 'ppb', timestamp: minute(at), value: at / 4 }
  })
const storedAt = (count: number) =>
  pointsAt(count).map(({ parameter, value }) => ({ series: series.get(parameter), value }))

function pointsIn(records: Uint8Array): { series: number; value: number | undefined }[] {
  const view = new DataView(records.buffer, records.byteOffset, records.byteLength)
  const found: ReturnType<typeof pointsIn> = []
  for (let offset = 0; offset < view.byteLength; offset += view.getUint16(offset, true)) {
    const { series, values } = readRecord(points, view, offset)
    found.push({ series, value: values['value'] })
  }
  return found
}

function read(value: unknown) {
  const body = Buffer.from(JSON.stringify(value))
  return readPointsBody({ body, sn: 'IN-1', series, nowUs, aheadMsMax: 0, pointsMax: 100 })
}

test('the records of a body have each of its points, from the first to the last', t => {
  for (const count of [1, 2, 3, 20]) {
    const { records = Buffer.of(), ...counts } = read(pointsAt(count)) as { records?: Uint8Array }
    t.match(counts, { kind: 'points', stored: count, rejected: 0 })
    t.strictSame(pointsIn(records), storedAt(count), `${count} points`)
  }
  const [one] = pointsAt(1)
  t.strictSame(pointsIn((read(one) as { records: Uint8Array }).records), storedAt(1), 'a body without an array')
  const [first, second, third] = pointsAt(3)
  const mixed = read([first, null, second, {}, third, 7]) as { records: Uint8Array }
  t.match(mixed, { stored: 3, rejected: 3 })
  t.strictSame(pointsIn(mixed.records), storedAt(3), 'invalid elements between them')
  t.end()
})

/** Nothing here waits for longer than a few turns of the event loop. */
async function within(condition: () => boolean): Promise<boolean> {
  for (let turns = 0; turns < turnsMax && !condition(); turns++) await turn()
  return condition()
}

const turnsMax = 1000

/** The operation over a journal whose groups have room for two points. Each group waits until the test decides its outcome. */
function openOperation(t: Test) {
  const pieces: Uint8Array[] = []
  let decide = (_outcome: Outcome): void => undefined
  const journal = {
    bulkBytesMax: 2 * (read(pointsAt(1)) as { records: Uint8Array }).records.length,
    term: () => 0,
    appendRecords(piece: Uint8Array) {
      pieces.push(piece)
      return new Promise<Outcome>(resolve => {
        decide = resolve
      })
    },
  }
  const notes: unknown[] = []
  const { handle } = addPointsOperation({
    stations: { noteData: station => void notes.push(station) },
    pointsIngest: { append: records => appendInPieces(journal, records), clockUs: () => nowUs },
    pointsBodies: { read: async task => readPointsBody(task) },
    aheadMsMax: 0,
    rejections: { add: () => undefined, addLines: () => undefined },
  })
  const asked = { station: { sn: 'IN-1', series }, refusal: async () => undefined } as unknown as OperationInput
  const app = fastify()
  t.teardown(() => app.close())
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_request, body, done) => done(null, body))
  app.post('/points', (request, reply) => handle(asked, request, reply))
  return {
    pieces,
    notes,
    /** Posts the points. `status` is undefined while the answer is pending. */
    post(body: unknown) {
      const answer: { status?: number; text?: string } = {}
      const headers = { 'content-type': 'application/json' }
      const sent = app.inject({ method: 'POST', url: '/points', headers, payload: JSON.stringify(body) })
      const done = sent.then(({ statusCode, body }) => Object.assign(answer, { status: statusCode, text: body }))
      return { answer, done }
    },
    /** Decides the outcome of the group after `count - 1` others. */
    async decide(count: number, outcome: Outcome) {
      if (!(await within(() => pieces.length === count))) throw new Error(`${pieces.length} groups came, not ${count}`)
      decide(outcome)
      // The next group, or the answer, is due now.
      await within(() => pieces.length > count)
    },
  }
}

const groups = 3
const body = pointsAt(2 * groups - 1)

test('points in several groups are acknowledged once the last group is stored', async t => {
  const { post, decide, pieces, notes } = openOperation(t)
  const { answer, done } = post(body)
  for (let count = 1; count < groups; count++) {
    await decide(count, 'stored')
    t.strictSame([answer, notes], [{}, []], `${count} of ${groups} groups are stored`)
  }
  t.equal(pieces.length, groups)
  t.strictSame([answer, notes], [{}, []], 'the last group is on its way')
  await decide(groups, 'stored')
  await done
  t.match(answer, { status: 201, text: /"stored":5,"rejected":0/ })
  t.equal(notes.length, 1)
  t.strictSame(pointsIn(Buffer.concat(pieces)), storedAt(body.length))
})

test('a refusal of any group, also of the last one, is not answered with 201', async t => {
  for (const outcome of ['full', 'closing', 'unknown'] as const) {
    for (let last = 1; last <= groups; last++) {
      const { post, decide, pieces, notes } = openOperation(t)
      const { answer, done } = post(body)
      for (let count = 1; count < last; count++) await decide(count, 'stored')
      await decide(last, outcome)
      await done
      // A part is stored, or may be.
      const status = last === 1 && outcome !== 'unknown' ? 503 : 500
      t.equal(answer.status, status, `${outcome} of group ${last}`)
      t.strictSame([pieces.length, notes], [last, []], 'no later group is appended')
    }
  }
})
