/** The parameters of the fleet and of a range, and the limits of the route of ranges, without stored readings. */

import { once } from 'node:events'
import fc from 'fast-check'
import t, { type Test, test } from 'tap'
import { attachmentOf } from '../../../api/http/response-headers.ts'
import { createStreamSlots } from '../../../api/http/streamed-response.ts'
import { FleetParameters, FleetQuery, textOfPlace } from '../../../api/read/fleet/fleet-parameters.ts'
import { unknownParameter } from '../../../api/read/read-operation.ts'
import { readingsGroup } from '../../../api/read/readings.ts'
import { readReadingsParameters } from '../../../api/read/readings-parameters.ts'
import { liveStates } from '../../../query/live/live-state.ts'
import { makeDevice } from '../../query/query-at.ts'
import { recordingLog } from '../../support/databases.ts'
import { madeMetrics } from '../../support/made-metrics.ts'
import { openReadsOf } from '../../support/open-reads.ts'
import { openRaw } from '../../support/raw-connection.ts'
import { runs } from '../../support/runs.ts'
import { waitFor } from '../../support/wait-for.ts'
import { serveGroups } from '../serve-groups.ts'

t.test('any query of the fleet is parsed correctly or rejected with a sentence', async () => {
  const text = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.constantFrom('state', 'name', 'late', 'late,fresh', '0', '1', '1000', '1001', '1e3', 'late:Kitchen', ':', ''),
  )
  const value = fc.oneof({ weight: 5, arbitrary: text }, { weight: 1, arbitrary: fc.array(text, { maxLength: 3 }) })
  fc.assert(
    fc.property(fc.dictionary(fc.constantFrom(...Object.keys(FleetQuery.shape)), value), query => {
      const parsed = FleetParameters.safeParse(query)
      if (!parsed.success) return (parsed.error.issues[0]?.message.length ?? 0) > 10
      const { request, search } = parsed.data
      return request.limit >= 1 && request.limit <= 1000 && request.states.length > 0 && search !== ''
    }),
    runs(300, 3000),
  )
})

t.test('a cursor is written to the query string and parsed back', async () => {
  const name = fc.string({ minLength: 1, maxLength: 64, unit: 'binary' })
  fc.assert(
    fc.property(fc.constantFrom(...liveStates), name, fc.constantFrom('state', 'name'), (state, name, order) => {
      const after = textOfPlace({ state, name }, order)
      const { request } = FleetParameters.parse({ after, order })
      return request.after?.name === name && request.after.state === (order === 'name' ? undefined : state)
    }),
  )
})

const nowUs = Date.UTC(2026, 5, 1) * 1000
const read = (query: Record<string, unknown>, accept?: string) => readReadingsParameters(query, accept, nowUs)
const dayMs = 86_400_000

/** The same moment in another zone. */
function inZone(ms: number, minutes: number, colon: string): string {
  const local = new Date(ms + minutes * 60_000).toISOString().slice(0, -1)
  const absolute = Math.abs(minutes)
  const digits = (part: number) => String(part).padStart(2, '0')
  return `${local}${minutes < 0 ? '-' : '+'}${digits(Math.floor(absolute / 60))}${colon}${digits(absolute % 60)}`
}

const moment = fc.integer({ min: Date.UTC(2000, 0), max: Date.UTC(2190, 0) })

test('a moment is the same in every valid form', async t => {
  fc.assert(
    fc.property(
      moment,
      fc.integer({ min: 0, max: 366 * dayMs }),
      fc.integer({ min: -14 * 60, max: 14 * 60 }),
      fc.constantFrom('', ':'),
      (ms, length, minutes, colon) => {
        const wanted = { fromUs: ms * 1000, toUs: (ms + length) * 1000 }
        const forms = [
          { start: String(ms), end: String(ms + length) },
          { start: new Date(ms).toISOString(), end: inZone(ms + length, minutes, colon) },
          { start: inZone(ms, minutes, colon).replace('+', ' '), end: new Date(ms + length).toISOString() },
        ]
        for (const form of forms) t.match(read(form), { ok: true, asked: wanted }, JSON.stringify(form))
      },
    ),
    runs(60, 600),
  )
  t.match(read({ start: '2026-05-01T00:00:00.000001Z' }), { asked: { fromUs: 1_777_593_600_000_001, toUs: nowUs } })
  t.match(read({ start: String(nowUs / 1000 + 5) }), { asked: { toUs: nowUs + 5000 } }, 'a start ahead of the clock')
})

test('any query of a range is valid or has a sentence', async t => {
  const text = fc.oneof(
    fc.string(),
    fc.constantFrom('2026-05-01', '2026-05-01T00:00', '2026-02-30T00:00Z', '9999-12-31T00:00Z', '1969-01-01T00:00Z'),
    fc.bigInt({ min: -10n, max: 10n ** 20n }).map(String),
    fc.array(fc.string(), { maxLength: 2 }),
  )
  const names = fc.constantFrom('start', 'end', 'step', 'format', '_', 'from')
  fc.assert(
    fc.property(fc.dictionary(names, text), fc.option(fc.string(), { nil: undefined }), (query, accept) => {
      const answer = read(query, accept)
      if (!answer.ok) return t.match(answer.status, /^\S.{5,200}$/)
      const { fromUs, toUs } = answer.asked
      const isRange = Number.isSafeInteger(fromUs) && Number.isSafeInteger(toUs) && fromUs <= toUs && fromUs >= 0
      return t.ok(isRange && toUs - fromUs <= 366 * dayMs * 1000, JSON.stringify(query))
    }),
    runs(200, 2000),
  )
})

test('a rejected range names the fault', async t => {
  const start = '1780000000000'
  const refuses = (query: Record<string, unknown>, status: string) => t.match(read(query), { ok: false, status })
  refuses({}, 'start is required')
  for (const text of ['2026-05-01', '2026-05-01T00:00:00', 'today', '', '-1', '1e12', ['1', '2']]) {
    refuses({ start: text }, 'start must be ISO 8601 with a zone, or epoch milliseconds')
  }
  const units: [text: string, unit: string][] = [
    ['1795885960', 'seconds'],
    ['946684800', 'seconds'],
    ['1795885960000000', 'microseconds'],
    ['1795885960000000000', 'nanoseconds'],
  ]
  for (const [text, unit] of units) {
    refuses({ start: text }, `start looks like ${unit}; send milliseconds`)
    refuses({ start, end: text }, `end looks like ${unit}; send milliseconds`)
  }
  t.match(read({ start: '0', end: '86400000' }), { ok: true, asked: { fromUs: 0 } }, 'an early time is no other unit')
  refuses({ start, end: '2026-05-01 00:00' }, 'end must be ISO 8601 with a zone, or epoch milliseconds')
  refuses({ start, end: '1779999999999' }, 'end must not be before start')
  refuses({ start, end: String(Number(start) + 366 * dayMs + 1) }, 'a range has at most 366 days')
  for (const step of ['59', '86401', '60.5', '060', 'hour', ['60', '60']]) {
    refuses({ start, step }, 'step must be a whole number of seconds from 60 to 86400')
  }
  for (const format of ['xlsx', 'JSON', 'toString', ['csv']]) {
    refuses({ start, format }, 'format must be one of json, ndjson, csv, parquet')
  }
  t.match(read({ start, _: '17' }), { ok: true })
})

test('the nearest name is suggested, also for a name of another service', async t => {
  const known = ['start', 'end', 'step', 'format']
  t.equal(unknownParameter({ ends: '' }, known), 'unknown parameter ends; did you mean end?')
  t.equal(unknownParameter({ a: '' }, []), 'unknown parameter a')
  t.equal(unknownParameter({ start: '', _: '' }, known), undefined)
  fc.assert(
    fc.property(fc.constantFrom(...known), fc.nat(), fc.string({ minLength: 1, maxLength: 1 }), (name, at, letter) => {
      const typo = name.slice(0, at % name.length) + letter + name.slice((at % name.length) + 1)
      if (!known.includes(typo) && typo !== '_') t.match(unknownParameter({ [typo]: '' }, known), / did you mean /)
    }),
  )
  t.ok((unknownParameter({ ['x'.repeat(60_000)]: '' }, known)?.length ?? 0) < 100)
  for (const [name, meant] of Object.entries({ from: 'start', since: 'start', to: 'end', until: 'end', stop: 'end' })) {
    t.equal(unknownParameter({ [name]: '' }, known), `unknown parameter ${name}; did you mean ${meant}?`)
  }
  t.match(unknownParameter({ from: '' }, ['format']), /did you mean format/, 'where there is no start')
  t.match(unknownParameter({ constructor: '' }, known), /did you mean /)
})

test('a file is named by its device and range, in portable characters', async t => {
  const fromUs = Date.UTC(2026, 4, 1) * 1000
  const toUs = Date.UTC(2026, 4, 8, 6, 30) * 1000
  const nameOf = (subject: string) => attachmentOf({ subject, fromUs, toUs, extension: 'csv' })
  t.equal(nameOf('porch'), 'attachment; filename="porch_2026-05-01_2026-05-08T0630Z.csv"')
  t.equal(nameOf('../a"b; x=Küche\r\n'), 'attachment; filename="-.-a-b--x-K-che--_2026-05-01_2026-05-08T0630Z.csv"')
  t.ok(nameOf('x'.repeat(60_000)).length < 150)
})

test('Accept selects the format unless the query string does', async t => {
  const layoutOf = (accept: string | undefined, query = {}) => {
    const answer = read({ start: '0', end: '1', ...query }, accept)
    return answer.ok ? answer.asked.format.layout : answer.status
  }
  const layouts = { 'text/csv': 'rfc4180', '*/*': 'array', 'image/png': 'array' }
  for (const [accept, layout] of Object.entries(layouts)) t.equal(layoutOf(accept), layout, accept)
  t.equal(layoutOf(undefined), 'array')
  t.equal(layoutOf('text/html,application/xhtml+xml,*/*;q=0.8'), 'array')
  t.equal(layoutOf('application/json;q=0.5, application/x-ndjson'), 'lines')
  t.equal(layoutOf('application/vnd.apache.parquet, */*;q=0.1'), 'parquet')
  t.equal(layoutOf('text/csv', { format: 'ndjson' }), 'lines')
})

const device = makeDevice('porch')

/** A route of ranges with endless readings. */
async function openRoute(t: Test, piecesMax = Number.POSITIVE_INFINITY) {
  const state = { isOver: 0, clients: [] as AbortSignal[] }
  const { log, texts } = recordingLog('warn')
  async function* made() {
    try {
      for (let piece = 0; piece < piecesMax; piece++) yield Buffer.alloc(200_000, 'x')
      throw new Error('QuestDB broke off')
    } finally {
      state.isOver++
    }
  }
  const group = readingsGroup(openReadsOf([device]), {
    rangeReads: {
      async pieces(_asked, client) {
        state.clients.push(client)
        return { ok: true, pieces: made() }
      },
    },
    metrics: madeMetrics(),
    nowMs: Date.now,
    expiredBeforeUs: () => 500_000,
    archivedFiles: async (...range) => [`of-${range.join('-')}.parquet`],
    log,
  })
  const { url } = await serveGroups(t, group)
  const ask = async (from?: string) => {
    const raw = await openRaw(t, url, from)
    raw.socket.write(`GET /api/readings/porch?start=0&end=1 HTTP/1.1\r\nhost: test\r\naccept-encoding: gzip\r\n\r\n`)
    await once(raw.socket, 'data')
    return raw
  }
  return { state, url, ask, texts }
}

test('a response names the archived files of the expired part of its range', async t => {
  const { url } = await openRoute(t)
  const { headers } = await fetch(`${url}/readings/porch?start=0&end=1000`, { method: 'HEAD' })
  t.equal(headers.get('archive-files'), 'of-0-500000-60.parquet')
  const kept = await fetch(`${url}/readings/porch?start=500&end=1000`, { method: 'HEAD' })
  t.notOk(kept.headers.has('archive-files'))
})

test('a client that disconnects ends its query', async t => {
  const { state, ask } = await openRoute(t)
  const { socket } = await ask()
  socket.pause()
  t.equal(state.isOver, 0)
  socket.destroy()
  await waitFor('the pieces are given up', () => state.isOver === 1)
  t.ok(state.clients[0]?.aborted)
})

test('a response with a failed read is visibly incomplete and logged', async t => {
  const { ask, texts } = await openRoute(t, 2)
  const { closed, received } = await ask()
  await closed
  t.match(received(), /^HTTP\/1.1 200 /)
  t.notOk(received().endsWith('0\r\n\r\n'))
  t.match(texts.join(), /read of a range failed, response cut off/)
})

test('the ranges of all clients and of one address are limited', async t => {
  const { state, ask, url } = await openRoute(t)
  const slow = []
  for (let i = 0; i < 8; i++) slow.push(await ask('127.0.0.2'))
  t.match((await ask('127.0.0.2')).received(), /503 .*too many queries at once/s)
  for (let i = 0; i < 8; i++) slow.push(await ask('127.0.0.3'))
  t.match((await ask('127.0.0.4')).received(), /503 .*retry-after: 2.*too many queries at once/s)
  t.match((await (await fetch(`${url}/readings/attic?start=0`)).json()) as object, { status: 'device unknown' })
  slow[0]?.socket.destroy()
  await waitFor('one is over', () => state.isOver === 1)
  t.match((await ask('127.0.0.4')).received(), /^HTTP\/1.1 200 /)
})

test('a network and a credential have a share of the slots', async t => {
  const slots = createStreamSlots({ slotsMax: 10, slotsOfOneMax: 2, nowMs: () => 0 })
  const closed: (() => void)[] = []
  const take = (address: string, credential?: string) => {
    const response = { once: (_event: string, close: () => void) => closed.push(close) }
    const slot = slots.take(response as never, { address, credential })
    return typeof slot === 'string' ? slot : 'taken'
  }
  t.strictSame([take('10.0.0.1'), take('10.0.0.1'), take('10.0.0.1')], ['taken', 'taken', 'of the network'])
  t.strictSame([take('2001:db8::1'), take('2001:db8::2'), take('2001:db8::3')], ['taken', 'taken', 'of the network'])
  t.strictSame([take('10.0.0.2', 'a'), take('10.0.0.3', 'a')], ['taken', 'taken'])
  t.strictSame([take('10.0.0.4', 'a'), take('10.0.0.4', 'b')], ['of the credential', 'taken'])
  for (const close of closed) {
    close()
    close()
  }
  t.strictSame([take('10.0.0.1', 'a'), take('10.0.0.1', 'a'), take('10.0.0.4', 'a')].slice(0, 2), ['taken', 'taken'])
  t.equal(take('10.0.0.5', 'a'), 'of the credential')
})

test('a client that is slow for long is dropped for another', async t => {
  let nowMs = 0
  const slots = createStreamSlots({ slotsMax: 2, slotsOfOneMax: 2, nowMs: () => nowMs })
  const cut: number[] = []
  const response = (id: number) => ({ once: () => undefined, destroy: () => cut.push(id) }) as never
  const take = (id: number, address: string) => {
    const slot = slots.take(response(id), { address, credential: undefined })
    return typeof slot === 'string' ? undefined : slot
  }
  const [first, second] = [take(1, 'a'), take(2, 'b')]
  second?.wait(true)
  nowMs = 5000
  first?.wait(true)
  nowMs = 9999
  t.equal(take(3, 'c'), undefined)
  nowMs = 10_001
  t.ok(take(3, 'c'))
  t.strictSame(cut, [2], 'the one that was waited for longest')
  t.equal(take(4, 'd'), undefined, 'the other one has only begun to wait')
  first?.wait(false)
  nowMs = 50_000
  t.equal(take(4, 'd'), undefined, 'no client is waited for')
})
