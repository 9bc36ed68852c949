/** The response of an export whose client stops reading, on loopback; the readings are made up. */

import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { fastify } from 'fastify'
import { type Test, test } from 'tap'
import { type ExportOptions, exportOperation } from '../../api/admin/export.ts'
import { untilStalled } from '../../api/http/stalled-response.ts'
import { serveEverybody } from '../support/admin-scope.ts'
import { silentLog } from '../support/databases.ts'
import { madeMetrics } from '../support/made-metrics.ts'
import { openRaw } from '../support/raw-connection.ts'
import { waitFor } from '../support/wait-for.ts'

const pieceBytes = 5_000_000

async function start(t: Test, pieceCount: number, stalledMsMax: number) {
  const state = { pieces: 0, isOver: false }
  async function* made() {
    try {
      for (; state.pieces < pieceCount; state.pieces++) yield Buffer.alloc(pieceBytes, 'x')
    } finally {
      state.isOver = true
    }
  }
  const app = fastify()
  t.teardown(() => app.close())
  const options: ExportOptions = {
    readingsExport: { pieces: async () => ({ ok: true, pieces: made() }), close: async () => undefined },
    devices: { get: () => undefined, all: () => [] },
    metrics: madeMetrics(),
    nowMs: Date.now,
    aheadMsMax: 0,
    audit: async () => undefined,
    log: silentLog,
    stalledMsMax,
  }
  await app.register(async scope => {
    serveEverybody(scope, { operations: [exportOperation(options)] })
  })
  const raw = await openRaw(t, await app.listen({ host: '127.0.0.1', port: 0 }))
  raw.socket.write('GET /export HTTP/1.1\r\nhost: test\r\n\r\n')
  return { ...raw, state }
}

test('a client that stops reading is cut off, and its export ends', async t => {
  const { socket, closed, state, received } = await start(t, Number.POSITIVE_INFINITY, 200)
  await once(socket, 'data')
  socket.pause()
  await waitFor('the export is over', () => state.isOver)
  socket.resume()
  await closed
  t.notOk(received().endsWith('0\r\n\r\n'), 'what came does not look whole')
})

test('a client that reads now and then gets all of it', async t => {
  const pieceCount = 3
  const { socket, received, state } = await start(t, pieceCount, 30_000)
  socket.on('data', () => {
    socket.pause()
    setImmediate(() => socket.resume())
  })
  await waitFor('the end has come', () => received().endsWith('0\r\n\r\n'))
  t.ok(state.isOver)
  t.ok(received().length > pieceCount * pieceBytes)
})

test('a piece goes out in slices of the same bytes, and no timer is left of one that was taken', async t => {
  const sent = [200_000, 0, 65_536, 1].map(length => randomBytes(length))
  async function* pieces() {
    yield* sent
  }
  const timers = () => process.getActiveResourcesInfo().filter(name => name === 'Timeout').length
  const before = timers()
  const slices: Uint8Array[] = []
  const response = { destroy: () => t.fail('it was read') } as never
  for await (const slice of untilStalled(pieces(), response, { stalledMsMax: 30_000 })) slices.push(slice)
  t.equal(timers(), before)
  t.ok(slices.every(({ length }) => length <= 65_536))
  t.ok(Buffer.concat(slices).equals(Buffer.concat(sent)))
})
