/** The server below the routes: pipelined requests, limits on connections and open files. The network is real, the routes are stubs. */

import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import type { IncomingMessage, RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { type Test, test } from 'tap'
import { createHttpServers } from '../../api/http/http-server.ts'
import { bodyOf } from '../../api/http/request-body.ts'
import { type ConnectionsOptions, createConnections } from '../../store/limits/connections.ts'
import { createNetworks } from '../../store/limits/networks.ts'
import { until } from '../support/processes.ts'
import { exchangeRaw, openRaw } from '../support/raw-connection.ts'

const get = (path: string) => `GET ${path} HTTP/1.1\r\nhost: x\r\n\r\n`

async function listen(t: Test, handle: RequestListener, limits: Partial<ConnectionsOptions> = {}) {
  const warnings: string[] = []
  const log = { info() {}, error() {}, warn: (_detail: object, text: string) => warnings.push(text) }
  const all = { max: 1000, perAddress: 1000, isTrusted: () => false, ...limits }
  const connections = createConnections({ ...all, log: log as never })
  const servers = createHttpServers({ tls: undefined, connections })
  const server = servers.create(handle).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.close()
    server.closeAllConnections()
    servers.close()
  })
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}`, connections, warnings, server }
}

test('pipelined requests are started in rotation, one at a time for each connection', async t => {
  const started: string[] = []
  const running = new Map<string, number>()
  let runningMax = 0
  const { url } = await listen(t, ({ url: path = '' }, response) => {
    const count = (running.get(path) ?? 0) + 1
    running.set(path, count)
    runningMax = Math.max(runningMax, count)
    started.push(path)
    setImmediate(() => {
      running.set(path, count - 1)
      response.end(path)
    })
  })
  const clients = await Promise.all(Array.from({ length: 5 }, () => openRaw(t, url)))
  for (const [index, { socket }] of clients.entries()) socket.write(get(`/${index}`).repeat(200))
  await until('all are answered', () => clients.every(client => client.answers() === 200))
  t.equal(runningMax, 1)
  // While all of them have pending requests, each gets its turn.
  const turns = started.slice(100, 600)
  for (const [index] of clients.entries()) {
    const count = turns.filter(path => path === `/${index}`).length
    t.ok(count >= 60, `connection ${index} has ${count} of 500 starts`)
  }
})

test('a connection that exceeds the limit of all pending requests is closed', async t => {
  const { url } = await listen(t, ({ url: path }, response) => {
    if (path === '/ok') response.end('ok')
  })
  const small = await openRaw(t, url)
  small.socket.write(get('/never') + get('/ok').repeat(10))
  const clients = await Promise.all(Array.from({ length: 20 }, () => openRaw(t, url)))
  for (const { socket } of clients) socket.write(get('/').repeat(3000))
  await until('one is closed', () => clients.some(({ socket }) => socket.closed))
  const late = await openRaw(t, url)
  late.socket.write(get('/ok'))
  await until('others are served', () => late.answers() === 1)
  t.notOk(small.socket.closed, 'those that have little are kept')
})

test('a request of which half is read waits as long as the previous ones', async t => {
  let isFirst = true
  const { url } = await listen(t, (_request, response) => {
    if (isFirst) setTimeout(() => response.end(), 8000)
    else response.end()
    isFirst = false
  })
  const { socket, answers } = await openRaw(t, url)
  const count = 3000
  socket.write(get('/some/path').repeat(count))
  await until('all are answered', () => answers() === count || socket.closed)
  t.equal(answers(), count)
})

test('any read of an absent body reaches its end', async t => {
  const readers: Record<string, (request: IncomingMessage) => Promise<unknown>> = {
    events: request =>
      new Promise((resolve, reject) => {
        request.on('data', reject).on('end', resolve).on('error', reject).on('close', reject)
      }),
    late: async request => {
      await nextTurn()
      if (request.destroyed) throw new Error('it seems to have broken off')
      await readers['events']?.(request)
    },
    copy: async request => t.equal((await buffer(bodyOf(request))).length, 0),
    iterator: async request => t.equal((await buffer(request)).length, 0),
  }
  const { url } = await listen(t, (request, response) => {
    const read = readers[request.url?.slice(1) ?? '']
    read?.(request).then(
      () => response.end('read'),
      () => response.end('broken off'),
    )
  })
  for (const method of ['POST', 'PUT', 'DELETE']) {
    for (const name of Object.keys(readers)) {
      const response = await fetch(`${url}/${name}`, { method, signal: AbortSignal.timeout(20_000) })
      t.equal(await response.text(), 'read', `${method} ${name}`)
      const bytes = `${method} /${name} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`
      t.match(await exchangeRaw(t, url, bytes), /read$/, `${method} ${name} without a length`)
    }
  }
})

test('one address may use a share of the connections, a trusted proxy all of them', async t => {
  const isTrusted = createNetworks(['127.0.0.4/30'])
  const { url, connections, warnings } = await listen(t, (_request, response) => response.end(), {
    max: 8,
    perAddress: 3,
    isTrusted,
  })
  const ask = async (localAddress: string) => {
    const client = await openRaw(t, url, localAddress)
    client.socket.write(get('/'))
    await until('it is answered or closed', () => client.answers() === 1 || client.socket.closed)
    return client.socket
  }
  const first = await Promise.all(Array.from({ length: 3 }, () => ask('127.0.0.2')))
  t.ok(first.every(socket => !socket.closed))
  t.ok((await ask('127.0.0.2')).closed, 'a fourth is refused')
  t.match(warnings, [/limit per address reached/])
  t.equal(connections.fault(), undefined, 'which is no fault of ours')
  t.notOk((await ask('127.0.0.3')).closed, 'another address is not')
  for (let count = 4; count < 8; count++) t.notOk((await ask('127.0.0.5')).closed, `of a proxy, ${count + 1} in all`)
  t.ok((await ask('127.0.0.3')).closed, 'beyond the limit for all')
  t.match(connections.fault(), /limit of 8 reached/)
  first[0]?.destroy()
  await until('there is room again', async () => !(await ask('127.0.0.2')).closed)
})

test('a draining server answers requests of old and new connections, and closes each after its response', async t => {
  const { url, connections } = await listen(t, (_request, response) => void response.end('ok'))
  const old = await openRaw(t, url)
  old.socket.write(get('/'))
  await until('it is answered', () => old.answers() === 1)
  connections.drain()
  const ended = once(old.socket, 'end')
  old.socket.write(get('/'))
  await ended
  t.equal(old.answers(), 2)
  t.match(await exchangeRaw(t, url, get('/')), /connection: close/i)
})

test('addresses are grouped into networks', async t => {
  const contains = createNetworks(['10.0.0.0/8', '192.0.2.7', 'fd00::/8', '::1'])
  for (const address of ['10.1.2.3', '192.0.2.7', 'fd12::1', '::1', '::ffff:10.0.0.1']) t.ok(contains(address), address)
  for (const address of ['11.0.0.1', '192.0.2.8', 'fe80::1', '::2', '']) t.notOk(contains(address), address)
})

const show = `
  const { closeSync, openSync } = await import('node:fs')
  const { areFilesExhausted, connectionsThatFit } = await import(process.cwd() + '/store/limits/open-files.ts')
  const before = [connectionsThatFit(), areFilesExhausted()]
  const opened = []
  try { for (;;) opened.push(openSync('/dev/null')) } catch {}
  const after = areFilesExhausted()
  // The coverage of the test needs a file descriptor at the end.
  for (const fd of opened) closeSync(fd)
  console.log(JSON.stringify([...before, after]))
`

/** Runs in a separate process with that limit of open files. */
function under(limit: number): [number, boolean, boolean] {
  const command = `ulimit -n ${limit} && exec "$0" --input-type=module -e "$1"`
  const { stdout, stderr } = spawnSync('sh', ['-c', command, process.execPath, show], { encoding: 'utf8' })
  if (stderr !== '') throw new Error(stderr)
  return JSON.parse(stdout)
}

test('connections leave file descriptors for the service', async t => {
  const [connections, before, after] = under(1000)
  t.ok(connections > 700 && connections < 872, `${connections} of 1000`)
  t.notOk(before)
  t.ok(after, 'and it is seen when there are no more')
  t.equal(under(64)[0], 1, 'one is left in any case')
})
