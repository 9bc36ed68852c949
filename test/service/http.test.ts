/** HTTP as it may be sent: pipelined, ambiguous, slow, too long, and what becomes of it. */

import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import tap, { type Test } from 'tap'
import { until } from '../support/processes.ts'
import { exchangeRaw, openRaw } from '../support/raw-connection.ts'
import { basic, startService } from '../support/service.ts'

const good = { device: 'kitchen', temperature: 21.5, humidity: 48, pressure: 1013.2 }
const body = JSON.stringify(good)

const service = await startService(tap, { environment: { FAILED_ATTEMPTS: '1000000' } })
const password = await service.addDevice('kitchen')
const authorization = `authorization: ${basic('kitchen', password)}\r\n`
const json = 'content-type: application/json\r\n'
const head = `PUT /api/log HTTP/1.1\r\nhost: x\r\n${authorization}${json}`
const put = (text = body) => `${head}content-length: ${Buffer.byteLength(text)}\r\n\r\n${text}`

const exchange = (t: Test, bytes: string | Buffer) => exchangeRaw(t, service.url, bytes)

async function readings(): Promise<number> {
  const { body } = await service.admin('GET', '/status')
  return (body as { journal: { readings: number } }).journal.readings
}

tap.test('pipelined requests of others hold up nobody', async t => {
  const get = 'GET /api/v1/contentfiles/?format=api HTTP/1.1\r\nhost: x\r\n\r\n'
  const count = 800
  const clients = await Promise.all(Array.from({ length: 20 }, () => openRaw(t, service.url)))
  const served = () => clients.reduce((sum, client) => sum + client.answers(), 0)
  for (const { socket } of clients) socket.write(get.repeat(count))
  await until('all of them are served', () => clients.every(client => client.answers() > 0))
  // Now, since a connection that sends nothing for five seconds is closed.
  const device = await openRaw(t, service.url)
  const beside: number[] = []
  for (let index = 1; index <= 5; index++) {
    const before = served()
    device.socket.write(put())
    await until('the reading is acknowledged', () => device.answers() === index || device.socket.closed)
    beside.push(served() - before)
  }
  t.equal(device.received().split('{"status":"success"}').length - 1, 5)
  // Others are served while a disk syncs, and a busy machine notices an answer late; without turns it would be thousands.
  const median = beside.sort((a, b) => a - b)[2] ?? 0
  t.ok(median < count, `${median} answers beside an acknowledgement, fewer than one client has sent`)
  for (const { socket } of clients) socket.destroy()
})

tap.test('all that is pipelined is answered', async t => {
  const { socket, answers } = await openRaw(t, service.url)
  socket.write('GET /health/live HTTP/1.1\r\nhost: x\r\n\r\n'.repeat(10_000))
  await until('it is', () => answers() === 10_000)
})

tap.test('pipelined readings are all stored, in the order in which they were sent', async t => {
  const startMs = Date.now() - 60_000
  const garden = await service.addDevice('garden')
  const count = 3000
  const requests = Array.from({ length: count }, (_, index) => {
    const text = JSON.stringify({ ...good, device: 'garden', temperature: index / 100 })
    return `PUT /api/log HTTP/1.1\r\nhost: x\r\nauthorization: ${basic('garden', garden)}\r\n${json}content-length: ${text.length}\r\n\r\n${text}`
  })
  const client = await openRaw(t, service.url)
  client.socket.end(requests.join(''))
  const answers = await client.closed
  t.equal(answers.split('{"status":"success"}').length - 1, count)
  await until('they are shown', async () => {
    const { lag } = (await service.admin('GET', '/status')).body as { lag: { readings: number } }
    return lag.readings === 0
  })
  const stored = await (await fetch(`${service.url}/api/readings/garden?start=${startMs}`)).json()
  t.strictSame(
    (stored as { temperature: number }[]).map(({ temperature }) => temperature),
    requests.map((_, index) => index / 100),
  )
})

tap.test('nothing behind a refusal that closes the connection is processed', async t => {
  const chunked = `${head}transfer-encoding: chunked\r\n\r\n`
  const refused: [string, string, string][] = [
    ['wrong credentials', put().replace(basic('kitchen', password), basic('kitchen', 'f'.repeat(64))), '401'],
    ['too long', `${head}content-length: 70000\r\n\r\n${' '.repeat(70_000)}`, '413'],
    ['too long in chunks', `${chunked}11170\r\n${' '.repeat(70_000)}\r\n0\r\n\r\n`, '413'],
    ['another media type', put().replace('application/json', 'text/plain'), '415'],
    ['no JSON', put('{'), '400'],
    ['a wrong method', 'DELETE /api/log HTTP/1.1\r\nhost: x\r\n\r\n', '405'],
    ['a body for nothing', `POST /nowhere HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\n\r\n1`, '404'],
    ['no admin', 'GET /api/admin/devices HTTP/1.1\r\nhost: x\r\n\r\n', '401'],
    ['no host', put().replace('host: x\r\n', ''), '400'],
    ['the last one, as it says', put().replace(json, `${json}connection: close\r\n`), '200'],
  ]
  for (const [name, request, status] of refused) {
    const before = await readings()
    const { socket, closed } = await openRaw(t, service.url)
    socket.write(request + put().repeat(10))
    const received = await closed
    t.equal(received.split('HTTP/1.1 ').length - 1, 1, `${name}: one answer`)
    t.equal(received.slice(9, 12), status, name)
    t.match(received, /\r\nconnection: close\r\n/i, name)
    t.equal(await readings(), before + (status === '200' ? 1 : 0), `${name}: nothing is stored`)
  }
})

tap.test('more than one host, or none', async t => {
  const before = await readings()
  const invalid: [string, string][] = [
    ['two hosts', put().replace('host: x\r\n', 'host: x\r\nhost: x\r\n')],
    ['two hosts, one in capitals', put().replace('host: x\r\n', 'Host: x\r\nHOST: y\r\n')],
    ['none', put().replace('host: x\r\n', '')],
    [
      'none, and an empty body in chunks',
      `${head.replace('host: x\r\n', '')}transfer-encoding: chunked\r\n\r\n0\r\n\r\n`,
    ],
    ['none, and half a body', `${head.replace('host: x\r\n', '')}content-length: 100\r\n\r\n{`],
  ]
  for (const [name, request] of invalid) {
    const answer = await exchange(t, request)
    t.match(answer, /^HTTP\/1\.1 400 .*\r\ncontent-length: 24\r\n.*\r\n\r\n\{"status":"bad request"\}$/is, name)
  }
  t.equal(await readings(), before)
  const old = put().replace('HTTP/1.1', 'HTTP/1.0').replace('host: x\r\n', '')
  t.match(await exchange(t, old), /^HTTP\/1\.1 200 /, 'HTTP/1.0 needs none')
})

tap.test('a transfer coding that we do not know is not taken for none', async t => {
  const before = await readings()
  const chunks = `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`
  for (const coding of ['gzip, chunked', 'identity, chunked', 'gzip,chunked', 'x, chunked']) {
    const answer = await exchange(t, `${head}transfer-encoding: ${coding}\r\n\r\n${chunks}`)
    t.match(answer, /^HTTP\/1\.1 501 .*\r\nconnection: close\r\n.*"status":"not implemented"/is, coding)
  }
  for (const coding of ['gzip', 'chunked, gzip', 'chunked, identity']) {
    t.match(await exchange(t, `${head}transfer-encoding: ${coding}\r\n\r\n${chunks}`), /^HTTP\/1\.1 (400|501) /, coding)
  }
  const old = `${head.replace('HTTP/1.1', 'HTTP/1.0')}transfer-encoding: chunked\r\n\r\n${chunks}`
  t.match(await exchange(t, old), /^HTTP\/1\.1 400 /, 'HTTP/1.0 knows none')
  t.equal(await readings(), before)
  t.match(await exchange(t, `${head}transfer-encoding: Chunked\r\n\r\n${chunks}`), /^HTTP\/1\.1 200 /, 'chunks alone')
})

tap.test('the charset of a body, and its byte order mark', async t => {
  const typed = (type: string) => put().replace('application/json', type)
  const cases: [string, number][] = [
    ['application/json;charset=utf-16', 415],
    ['application/json; charset="UTF-16LE"', 415],
    ['application/json; charset=iso-8859-1', 415],
    ['application/json; a=b; charset=utf-16', 415],
    ['application/json; charset=UTF-8', 200],
    ['application/json; charset="utf-8"', 200],
    ['application/json;charset=us-ascii', 200],
    ['application/json; version=1', 200],
  ]
  for (const [type, status] of cases) t.equal((await exchange(t, typed(type))).slice(9, 12), String(status), type)
  t.equal((await service.put('kitchen', password, `\ufeff${body}`)).status, 200, 'a mark before the body')
  t.equal((await service.put('kitchen', password, '\ufeff')).status, 400, 'nothing but the mark')
  t.equal((await service.put('kitchen', password, `\ufeff\ufeff${body}`)).status, 400, 'two')
})

tap.test('a body that does not come is told so', async t => {
  const before = await readings()
  const { socket, received, closed } = await openRaw(t, service.url)
  socket.write(`${head}content-length: ${body.length}\r\n\r\n${body.slice(0, 10)}`)
  await until('there is an answer', () => received().includes('\r\n\r\n') || socket.closed)
  t.match(received(), /^HTTP\/1\.1 408 .*\r\nconnection: close\r\n.*\{"status":"timeout"\}$/is)
  socket.write(body.slice(10))
  await closed
  t.equal(await readings(), before, 'and is not stored when it comes afterwards')
  const token = readFileSync(`${service.dataDirectory}/secrets/admin-token`, 'utf8').trim()
  const admin = await openRaw(t, service.url)
  admin.socket.write(
    `POST /api/admin/devices HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${token}\r\n${json}content-length: 50\r\n\r\n{`,
  )
  t.match(await admin.closed, /^HTTP\/1\.1 408 .*problem\+json.*"status":408/is)
})

tap.test('a body that nobody reads may not drip for ever', async t => {
  for (const path of ['/api/latest/all/24', '/health/live', '/api/v1/contentfiles/']) {
    const { socket } = await openRaw(t, service.url)
    socket.write(`GET ${path} HTTP/1.1\r\nhost: x\r\ncontent-length: 100000\r\n\r\n`)
    const drip = setInterval(() => socket.write(' '), 200)
    socket.once('close', () => clearInterval(drip))
    await until(`${path} is closed`, () => socket.closed)
  }
})

tap.test('every method that a path does not have is refused as such', async t => {
  const cases: [string, string, RegExp][] = [
    ['PROPFIND', '/api/log', /\r\nallow: PUT\r\n/i],
    ['MKCOL', '/api/log', /\r\nallow: PUT\r\n/i],
    ['POST', '/health/live', /\r\nallow: GET, HEAD\r\n/i],
    ['PROPFIND', '/health/ready', /\r\nallow: GET, HEAD\r\n/i],
    ['DELETE', '/metrics', /\r\nallow: GET, HEAD\r\n/i],
    ['REPORT', '/api/latest/all/24', /\r\nallow: GET, HEAD, OPTIONS\r\n/i],
    ['SEARCH', '/api/stats_data/kitchen', /\r\nallow: GET, HEAD, OPTIONS\r\n/i],
    ['PROPFIND', '/api/v1/contentfiles/', /\r\nallow: GET, HEAD, OPTIONS\r\n/i],
  ]
  for (const [method, path, allow] of cases) {
    const answer = await exchange(t, `${method} ${path} HTTP/1.1\r\nhost: x\r\n\r\n`)
    t.equal(answer.slice(9, 12), '405', `${method} ${path}`)
    t.match(answer, allow, `${method} ${path}`)
  }
  for (const method of ['PROPFIND', 'MKCOL']) {
    t.equal((await service.admin(method, '/devices')).status, 405, `${method} of the admin API`)
  }
})

tap.test('a path that cannot be decoded is refused in the shape of its family', async t => {
  const { status, body } = await service.admin('GET', '/devices/%zz')
  t.match({ status, body }, { status: 400, body: { type: 'urn:barograph:problem:bad-request', status: 400 } })
  const long = await service.admin('GET', `/devices/${'x'.repeat(2000)}`)
  t.match(long, { status: 414, body: { type: 'urn:barograph:problem:uri-too-long', status: 414 } })
  const foreign = await fetch(`${service.url}/api/admin/devices/%zz`)
  t.equal(foreign.status, 401, 'who is not let in learns nothing')
  t.match(foreign.headers.get('content-type'), /problem\+json/)
  const logger = await fetch(`${service.url}/api/device/%zz`)
  t.strictSame([logger.status, await logger.json()], [400, { status: 'bad request' }])
})

tap.test('a long body in chunks is answered, not reset', async t => {
  const chunk = `100000\r\n${'x'.repeat(0x100000)}\r\n`
  for (let times = 0; times < 5; times++) {
    const { socket, received, closed, fault } = await openRaw(t, service.url)
    socket.write(`${head}transfer-encoding: chunked\r\n\r\n`)
    // It looks at no answer before all is sent, as simple clients do: more than the buffers of both sockets hold, and no more than
    // a machine under load reads in the five seconds that the service goes on reading for.
    socket.pause()
    for (let sent = 0; sent < 24 && fault() === undefined; sent++) {
      if (!socket.write(chunk)) await Promise.race([once(socket, 'drain'), closed])
    }
    socket.end('0\r\n\r\n')
    socket.resume()
    await closed
    t.match(received(), /^HTTP\/1\.1 413 .*\{"status":"payload too large"\}$/is)
    t.equal(fault(), undefined)
  }
})

tap.test('metrics are open on the machine itself alone, and not to what a proxy hands on', async t => {
  const port = new URL(service.url).port
  const scrape = async (headers: string[], version = '1.1') =>
    (await exchange(t, [`GET /metrics HTTP/${version}`, ...headers, 'connection: close', '', ''].join('\r\n'))).slice(
      9,
      12,
    )
  const local = [
    `host: 127.0.0.1:${port}`,
    'host: localhost',
    `Host: LOCALHOST:${port}`,
    'host: [::1]:80',
    'host: 127.1.2.3',
  ]
  for (const host of local) t.equal(await scrape([host]), '200', host)
  const foreign = [
    'host: barograph.example',
    'host: 192.0.2.1:8080',
    'host: localhost.example',
    'host: 127.0.0.1.example',
    'host: 127.evil',
    'host:',
    'host: [::2]',
    'host: x@127.0.0.1',
    'host: 0.0.0.0',
  ]
  for (const host of foreign) t.equal(await scrape([host]), '401', host)
  const added = [
    'x-forwarded-for: 127.0.0.1',
    'forwarded: for=127.0.0.1',
    'x-real-ip: 127.0.0.1',
    'via: 1.1 proxy',
    'X-Forwarded-Host: localhost',
    'x-forwarded-proto: http',
    'x-forwarded-server: x',
    'x-forwarded: x',
    'cf-connecting-ip: 127.0.0.1',
    'true-client-ip: 127.0.0.1',
    'x-client-ip: 127.0.0.1',
    'x-original-forwarded-for: x',
    'x-cluster-client-ip: 127.0.0.1',
    'fastly-client-ip: 127.0.0.1',
    'x-envoy-external-address: 127.0.0.1',
  ]
  for (const header of added) t.equal(await scrape(['host: localhost', header]), '401', header)
  t.equal(await scrape(['host: localhost'], '1.0'), '401', 'as proxies speak to what is behind them')
  t.equal(await scrape([], '1.0'), '401')
})
