/** Sent bodies: their memory is limited and freed, and a client that reads nothing is dropped. */

import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { createGunzip, createZstdDecompress } from 'node:zlib'
import { fastify } from 'fastify'
import t, { type Test, test } from 'tap'
import { type ExportOptions, exportOperation } from '../../api/admin/export.ts'
import { contentFilesFamily } from '../../api/content-files/content-files.ts'
import { BusyError, boundSending } from '../../api/http/send-budget.ts'
import { sendPieces, untilStalled } from '../../api/http/streamed-response.ts'
import { serveEverybody } from '../support/admin-scope.ts'
import { closing, silentLog } from '../support/databases.ts'
import { madeMetrics } from '../support/made-metrics.ts'
import { until } from '../support/processes.ts'
import { openRaw } from '../support/raw-connection.ts'
import { waitFor } from '../support/wait-for.ts'

const mebibyte = 1024 ** 2
/** More than the buffers of both sockets. */
const bodyBytes = 24 * mebibyte

async function start(t: Test) {
  let nowMs = 0
  const bodies = Array.from({ length: 4 }, (_, index) => Buffer.alloc(bodyBytes, index))
  const app = fastify()
  boundSending(app, { bytesMax: 2.5 * bodyBytes, nowMs: () => nowMs })
  app.get<{ Params: { at: string } }>('/:at', async ({ params }, reply) => {
    return reply.header('content-encoding', 'x-none').header('etag', '"x"').send(bodies[Number(params.at)])
  })
  await app.listen({ host: '127.0.0.1', port: 0 })
  const { port } = app.server.address() as AddressInfo
  const sockets: Socket[] = []
  t.teardown(async () => {
    for (const socket of sockets) socket.destroy()
    await app.close()
  })
  /** Requests, reads the head of the response, and stops. */
  const stall = async (at: number): Promise<Socket> => {
    const socket = connect(port, '127.0.0.1')
    sockets.push(socket)
    socket.on('error', () => undefined)
    socket.write(`GET /${at} HTTP/1.1\r\nhost: x\r\n\r\n`)
    await once(socket, 'readable')
    return socket
  }
  const ask = async (at: number, method = 'GET') => {
    const response = await fetch(`http://127.0.0.1:${port}/${at}`, { method })
    return { response, bytes: (await response.arrayBuffer()).byteLength }
  }
  return { stall, ask, pass: (ms: number) => (nowMs += ms) }
}

t.test('no further body is sent when too many are unread', async t => {
  const { stall, ask } = await start(t)
  const first = await stall(0)
  await stall(1)
  const { response } = await ask(2)
  t.match(response, { status: 503 })
  t.equal(response.headers.get('retry-after'), '2')
  t.equal(response.headers.get('content-encoding'), null)
  t.equal(response.headers.get('etag'), null)
  t.match(await ask(1), { response: { status: 200 }, bytes: bodyBytes }, 'one that is being sent takes nothing more')
  t.equal((await ask(2, 'HEAD')).response.status, 200)
  first.destroy()
  await until('there is room', async () => (await ask(2)).response.status === 200)
})

t.test('the client that has read longest is dropped', async t => {
  const { stall, ask, pass } = await start(t)
  const first = await stall(0)
  pass(9_000)
  await stall(1)
  t.equal((await ask(2)).response.status, 503)
  pass(1_500)
  const closed = once(first, 'close')
  t.match(await ask(2), { response: { status: 200 }, bytes: bodyBytes })
  first.resume()
  await closed
  t.equal((await ask(1)).response.status, 200, 'the one that came later is still there')
})

t.test('the listing of content files reports it in its shape', async t => {
  const app = fastify()
  let answers = 0
  app.addHook('onSend', (_request, _reply, _payload, done) => {
    if (answers++ === 0) done(new BusyError('no room'))
    else done()
  })
  const away = async () => {
    throw new Error('no database')
  }
  const postgres = { query: away, connect: away } as never
  const { prefix, register } = contentFilesFamily({ postgres, publicUrl: undefined, log: silentLog })
  app.register(async scope => register(scope), { prefix })
  t.teardown(() => app.close())
  const response = await app.inject('/api/v1/nothing')
  t.equal(response.statusCode, 503)
  t.equal(response.headers['content-type'], 'application/json')
  t.strictSame(response.json(), {
    detail: 'Service temporarily unavailable, try again later.',
    error_type: 'ServiceUnavailable',
  })
})

const randomPieceBytes = 3_000_000
const decoders = { identity: undefined, gzip: createGunzip, zstd: createZstdDecompress }

for (const form of ['identity', 'gzip', 'zstd'] as const) {
  test(`pieces are freed after a slow client has read them: ${form}`, async t => {
    const shared = Buffer.from('a short piece')
    const large = Array.from({ length: 6 }, () => new Uint8Array(randomBytes(randomPieceBytes)))
    const hash = createHash('sha256')
    let freedBeforeLast = 0
    async function* pieces() {
      for (const [index, piece] of large.entries()) {
        hash.update(piece)
        if (index === large.length - 1) freedBeforeLast = large.filter(({ length }) => length === 0).length
        yield piece
        hash.update(shared)
        yield shared
      }
    }
    const app = closing(t, fastify())
    app.get('/', (_request, reply) => sendPieces(reply, pieces(), { form, onFailed: error => t.fail(error.message) }))
    const address = await app.listen({ host: '127.0.0.1', port: 0 })
    const response = await new Promise<IncomingMessage>(resolve => void get(address, resolve))
    const received = createHash('sha256')
    let count = 0
    response.on('data', () => {
      if (++count % 20 !== 0) return
      response.pause()
      setImmediate(() => response.resume())
    })
    const decoder = decoders[form]?.()
    for await (const chunk of decoder === undefined ? response : response.pipe(decoder)) received.update(chunk)
    t.equal(received.digest('hex'), hash.digest('hex'))
    await waitFor('all are freed', () => large.every(({ length }) => length === 0))
    t.ok(freedBeforeLast >= 3, `${freedBeforeLast} of the first five were freed before the last was made`)
    t.equal(shared.toString(), 'a short piece')
  })
}

const pieceBytes = 5_000_000

async function startExport(t: Test, pieceCount: number, stalledMsMax: number) {
  const state = { pieces: 0, isOver: false }
  async function* made() {
    try {
      for (; state.pieces < pieceCount; state.pieces++) yield Buffer.alloc(pieceBytes, 'x')
    } finally {
      state.isOver = true
    }
  }
  const app = closing(t, fastify())
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

test('a client that stops reading is disconnected from its export', async t => {
  const { socket, closed, state, received } = await startExport(t, Number.POSITIVE_INFINITY, 200)
  await once(socket, 'data')
  socket.pause()
  await waitFor('the export is over', () => state.isOver)
  socket.resume()
  await closed
  t.notOk(received().endsWith('0\r\n\r\n'), 'what came does not look whole')
})

test('a slow client gets all of it', async t => {
  const pieceCount = 3
  const { socket, received, state } = await startExport(t, pieceCount, 30_000)
  socket.on('data', () => {
    socket.pause()
    setImmediate(() => socket.resume())
  })
  await waitFor('the end has come', () => received().endsWith('0\r\n\r\n'))
  t.ok(state.isOver)
  t.ok(received().length > pieceCount * pieceBytes)
})

test('a piece is sent in slices of the same bytes without a leftover timer', async t => {
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
