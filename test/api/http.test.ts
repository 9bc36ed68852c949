/** The server accepts or rejects HTTP that is pipelined, ambiguous, slow or too long. */

import { once } from 'node:events'
import tap, { type Test } from 'tap'
import { until } from '../support/processes.ts'
import { exchangeRaw, openRaw } from '../support/raw-connection.ts'
import { basic } from '../support/service.ts'
import { startWriteServer } from './write-server.ts'

const good = { device: 'kitchen', temperature: 21.5, humidity: 48, pressure: 1013.2 }
const body = JSON.stringify(good)

const { url, stored, addDevice } = await startWriteServer(tap, { FAILED_ATTEMPTS: '1000000' })
const password = await addDevice('kitchen')
const authorization = `authorization: ${basic('kitchen', password)}\r\n`
const json = 'content-type: application/json\r\n'
const head = `PUT /api/log HTTP/1.1\r\nhost: x\r\n${authorization}${json}`
const put = (text = body) => `${head}content-length: ${Buffer.byteLength(text)}\r\n\r\n${text}`
const exchange = (t: Test, bytes: string | Buffer) => exchangeRaw(t, url, bytes)

tap.test('pipelined readings are all stored, in the order sent', async t => {
  const garden = await addDevice('garden')
  const count = 1000
  const requests = Array.from({ length: count }, (_, index) => {
    const text = JSON.stringify({ ...good, device: 'garden', temperature: index / 100 })
    return put(text).replace(authorization, `authorization: ${basic('garden', garden)}\r\n`)
  })
  t.equal((await exchange(t, requests.join(''))).split('{"status":"success"}').length - 1, count)
  const temperatures = stored.filter(({ device }) => device === 'garden').map(({ reading }) => reading.temperature)
  const sent = Array.from({ length: count }, (_, index) => index / 100)
  t.strictSame(temperatures, sent)
})

tap.test('requests after a rejection that closes the connection are not processed', async t => {
  const chunked = `${head}transfer-encoding: chunked\r\n\r\n`
  const refused: [string, string, string][] = [
    ['wrong credentials', put().replace(basic('kitchen', password), basic('kitchen', 'f'.repeat(64))), '401'],
    ['too long', `${head}content-length: 70000\r\n\r\n${' '.repeat(70_000)}`, '413'],
    ['too long in chunks', `${chunked}11170\r\n${' '.repeat(70_000)}\r\n0\r\n\r\n`, '413'],
    ['another media type', put().replace('application/json', 'text/plain'), '415'],
    ['no JSON', put('{'), '400'],
    ['a wrong method', 'DELETE /api/log HTTP/1.1\r\nhost: x\r\n\r\n', '405'],
    ['a body for nothing', `POST /nowhere HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\n\r\n1`, '404'],
    ['no host', put().replace('host: x\r\n', ''), '400'],
    ['the last one, as it says', put().replace(json, `${json}connection: close\r\n`), '200'],
  ]
  for (const [name, request, status] of refused) {
    const before = stored.length
    const { socket, closed } = await openRaw(t, url)
    socket.write(request + put().repeat(10))
    const received = await closed
    t.equal(received.split('HTTP/1.1 ').length - 1, 1, `${name}: one answer`)
    t.equal(received.slice(9, 12), status, name)
    t.match(received, /\r\nconnection: close\r\n/i, name)
    t.equal(stored.length, before + (status === '200' ? 1 : 0), `${name}: nothing is stored`)
  }
})

tap.test('ambiguous heads are rejected and not stored', async t => {
  const chunks = `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`
  const coded = (coding: string, to = head) => `${to}transfer-encoding: ${coding}\r\n\r\n${chunks}`
  const hostless = head.replace('host: x\r\n', '')
  const old = head.replace('HTTP/1.1', 'HTTP/1.0')
  const notHttp = /^HTTP\/1\.1 400 .*\{"status":"bad request"\}$/is
  const unknown = /^HTTP\/1\.1 501 .*\r\nconnection: close\r\n.*"status":"not implemented"/is
  const cases: [string, string, RegExp][] = [
    ['two hosts', put().replace('host: x\r\n', 'host: x\r\nhost: x\r\n'), notHttp],
    ['two hosts, one in capitals', put().replace('host: x\r\n', 'Host: x\r\nHOST: y\r\n'), notHttp],
    ['no host, and an empty body in chunks', `${hostless}transfer-encoding: chunked\r\n\r\n0\r\n\r\n`, notHttp],
    ['no host, and half a body', `${hostless}content-length: 100\r\n\r\n{`, notHttp],
    ['gzip in chunks', coded('gzip, chunked'), unknown],
    ['identity in chunks', coded('identity, chunked'), unknown],
    ['a coding that is none, in chunks', coded('x, chunked'), unknown],
    ['gzip', coded('gzip'), /^HTTP\/1\.1 (400|501) /],
    ['chunks in gzip', coded('chunked, gzip'), /^HTTP\/1\.1 (400|501) /],
    ['chunks in HTTP/1.0', coded('chunked', old), /^HTTP\/1\.1 400 /],
    ['two credentials', put().replace(authorization, `${authorization}${authorization}`), /^HTTP\/1\.1 401 /],
    ['half a body', `${head}content-length: ${body.length}\r\n\r\n${body.slice(0, 20)}`, /^(?!.* 200 )/s],
    ['faulty chunks', `${head}transfer-encoding: chunked\r\n\r\nzz\r\n`, notHttp],
    ['an unknown method', 'FOO /api/log HTTP/1.1\r\nhost: x\r\n\r\n', notHttp],
    ['rubbish', '\x00\x01\r\n\r\n', notHttp],
    ['long headers', `PUT /api/log HTTP/1.1\r\nx: ${'y'.repeat(70_000)}\r\n\r\n`, / 431 .*"headers too large"/s],
  ]
  const before = stored.length
  for (const [name, request, answer] of cases) t.match(await exchange(t, request), answer, name)
  t.equal(stored.length, before)
  const taken: [string, string][] = [
    ['HTTP/1.0 needs no host', put().replace(head, old).replace('host: x\r\n', '')],
    ['chunks alone', coded('Chunked')],
  ]
  for (const [name, request] of taken) t.match(await exchange(t, request), /^HTTP\/1\.1 200 /, name)
  t.equal(stored.length, before + taken.length)
  const rubbish = await exchange(t, `${put()}rubbish\r\n\r\n`)
  t.notMatch(rubbish, / 4\d\d /, 'rubbish behind a whole reading is not answered in its place')
})

tap.test('a slow unread body is aborted', async t => {
  const { socket } = await openRaw(t, url)
  socket.write('GET /health/live HTTP/1.1\r\nhost: x\r\ncontent-length: 100000\r\n\r\n')
  const drip = setInterval(() => socket.write(' '), 200)
  socket.once('close', () => clearInterval(drip))
  await until('it is closed', () => socket.closed)
})

tap.test('a body for an unknown path is not awaited', async t => {
  const { socket, closed } = await openRaw(t, url)
  socket.write(`POST /api/logs HTTP/1.1\r\nhost: x\r\n${json}content-length: 1000\r\n\r\n{`)
  t.match(await closed, /^HTTP\/1\.1 404 .*\r\nconnection: close\r\n.*"status":"not found"/is)
})

tap.test('every method that a path does not have is a 405', async t => {
  const ofLog = ['GET', 'POST', 'DELETE', 'PATCH', 'QUERY', 'TRACE', 'PROPFIND', 'MKCOL']
  const cases: [string, string, RegExp][] = [
    ...ofLog.map((method): [string, string, RegExp] => [method, '/api/log', /\r\nallow: PUT\r\n/i]),
    ['POST', '/health/live', /\r\nallow: GET, HEAD\r\n/i],
    ['DELETE', '/metrics', /\r\nallow: GET, HEAD\r\n/i],
    ['REPORT', '/api/latest/all/24', /\r\nallow: GET, HEAD, OPTIONS\r\n/i],
    ['SEARCH', '/api/stats_data/kitchen', /\r\nallow: GET, HEAD, OPTIONS\r\n/i],
  ]
  for (const [method, path, allow] of cases) {
    const answer = await exchange(t, `${method} ${path} HTTP/1.1\r\nhost: x\r\n\r\n`)
    t.equal(answer.slice(9, 12), '405', `${method} ${path}`)
    t.match(answer, allow, `${method} ${path}`)
  }
})

tap.test('a path that cannot be decoded is rejected in the shape of its family', async t => {
  const logger = await fetch(`${url}/api/device/%zz`)
  t.strictSame([logger.status, await logger.json()], [400, { status: 'bad request' }])
})

tap.test('a long body in chunks is answered, not reset', async t => {
  const chunk = `100000\r\n${'x'.repeat(0x100000)}\r\n`
  const { socket, received, closed, fault } = await openRaw(t, url)
  socket.write(`${head}transfer-encoding: chunked\r\n\r\n`)
  // Like simple clients, it reads no response before all is sent: more than the buffers of both sockets.
  socket.pause()
  for (let sent = 0; sent < 24 && fault() === undefined; sent++) {
    if (!socket.write(chunk)) await Promise.race([once(socket, 'drain'), closed])
  }
  socket.end('0\r\n\r\n')
  socket.resume()
  await closed
  t.match(received(), /^HTTP\/1\.1 413 .*\{"status":"payload too large"\}$/is)
  t.equal(fault(), undefined)
})

tap.test('metrics are open on loopback alone, and not to forwarded requests', async t => {
  const { port } = new URL(url)
  const scrape = async (headers: string[], version = '1.1') => {
    const lines = [`GET /metrics HTTP/${version}`, ...headers, 'connection: close', '', '']
    return (await exchange(t, lines.join('\r\n'))).slice(9, 12)
  }
  const local = [`127.0.0.1:${port}`, 'localhost', `LOCALHOST:${port}`, '[::1]:80', '127.1.2.3']
  for (const host of local) t.equal(await scrape([`host: ${host}`]), '200', host)
  const foreign = [
    'barograph.example',
    'localhost.example',
    '127.0.0.1.example',
    '127.evil',
    '',
    '[::2]',
    'x@127.0.0.1',
  ]
  for (const host of foreign) t.equal(await scrape([`host: ${host}`]), '401', host)
  const added = [
    'x-forwarded-for: 127.0.0.1',
    'forwarded: for=127.0.0.1',
    'x-real-ip: 127.0.0.1',
    'via: 1.1 proxy',
    'X-Forwarded-Host: localhost',
    'cf-connecting-ip: 127.0.0.1',
    'true-client-ip: 127.0.0.1',
    'x-original-forwarded-for: x',
    'x-envoy-external-address: 127.0.0.1',
  ]
  for (const header of added) t.equal(await scrape(['host: localhost', header]), '401', header)
  t.equal(await scrape(['host: localhost'], '1.0'), '401', 'as proxies speak to what is behind them')
})
