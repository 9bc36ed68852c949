/** Answers that nobody reads take a bounded memory, and give way to others after a while. */

import { once } from 'node:events'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { fastify } from 'fastify'
import t, { type Test } from 'tap'
import { contentFilesFamily } from '../../api/content-files/content-files.ts'
import { BusyError, boundSending } from '../../api/http/send-budget.ts'
import { silentLog } from '../support/databases.ts'
import { until } from '../support/processes.ts'

const mebibyte = 1024 ** 2
/** More than the sockets of both sides take by themselves. */
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
  /** Asks, sees the head of the answer, and reads no further. */
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

t.test('no further body is sent when those that nobody reads are too many', async t => {
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

t.test('whoever has read for long gives way', async t => {
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

t.test('the listing says so in its own shape', async t => {
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
