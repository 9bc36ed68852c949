/** Every response of `PUT /api/log`, on a real socket, with real registries and a real journal. */

import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { json } from 'node:stream/consumers'
import tap, { type Test } from 'tap'
import { until } from '../../support/processes.ts'
import { exchangeRaw, openRaw } from '../../support/raw-connection.ts'
import { basic } from '../../support/service.ts'
import { startWriteServer } from '../write-server.ts'

const settings = {
  FAILED_ATTEMPTS: '30',
  DEVICES_PER_OWNER: '2',
  IDEMPOTENCY_KEYS_MAX: '2',
  DEVICE_RATE: '1',
  DEVICE_BURST: '200',
}
const server = await startWriteServer(tap, settings)
const { url, devices, people, stored, addDevice, addKey } = server

const good = { device: 'kitchen', temperature: 21.5, humidity: 48, pressure: 1013.2 }
const success = { status: 'success' }
const unauthorized = { status: 'unauthorized' }
const detail = 'the device does not belong to the owner of the API key, or lacks a tag that the key is limited to'
const foreign = { status: 'device mismatch', detail }
const invalid = (errors: object) => ({ status: 'invalid payload', errors })
const passwords = {
  kitchen: await addDevice('kitchen'),
  silent: await addDevice('silent', { log_switch: false }),
}
const put = (body: unknown, headers?: Record<string, string>) => server.put('kitchen', passwords.kitchen, body, headers)
const asKitchen = { authorization: basic('kitchen', passwords.kitchen) }
const head = `PUT /api/log HTTP/1.1\r\nhost: x\r\nauthorization: ${asKitchen.authorization}\r\ncontent-type: application/json\r\n`

/** Sends a request with these credentials alone. */
const send = (headers: Record<string, string>, body: unknown, path = '/api/log') =>
  fetch(url + path, {
    method: 'PUT',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
    redirect: 'error',
  })

async function answers(t: Test, name: string, response: Response, status: number, body: unknown): Promise<void> {
  const text = await response.text()
  t.strictSame([response.status, JSON.parse(text)], [status, body], name)
  t.equal(response.headers.get('content-length'), String(Buffer.byteLength(text)), `${name}: has a length`)
}

/** Asserts that the work stores nothing. */
async function nothingStored(t: Test, work: () => Promise<unknown>): Promise<void> {
  const before = stored.length
  await work()
  t.equal(stored.length, before, 'nothing is stored')
}

tap.test('a good reading is stored except for the ignored fields, which the response names', async t => {
  const quoted = JSON.stringify(good)
  const numbered = Array.from({ length: 1_000 }, (_, index) => [`field ${index}`, String(index)])
  const firstTwenty = numbered.slice(0, 20).map(([name = '']) => name)
  const spelled = ['Battery', 'nested', '__proto']
  const cases: [string, unknown, string[]?][] = [
    ['the four fields', good],
    ['the last of two keys wins', quoted.replace('{', '{"temperature":"x",')],
    ['a mark before the body', `\ufeff${quoted}`],
    ['one field', { ...good, note: 'dry' }, ['note']],
    ['odd fields', { Battery: 'full', ...good, nested: { deep: [1] }, __proto: '', none: null }, spelled],
    ['a name that means something to JavaScript', `${quoted.slice(0, -1)},"__proto__":""}`, ['__proto__']],
    ['names that no metric can have', { ...good, '%': 1, hour: 20, dew_point: 9 }, ['%', 'hour', 'dew_point']],
    ['the first twenty of many', { ...Object.fromEntries(numbered), ...good }, firstTwenty],
    ['long ones are cut', { ...good, ['x'.repeat(10_000)]: 1 }, [`${'x'.repeat(63)}…`]],
    ['a sensor that is not connected', { ...good, temperature: -127, co2: 600 }, ['temperature']],
  ]
  const before = stored.length
  for (const [name, body, ignored] of cases) {
    await answers(t, name, await put(body), 200, ignored === undefined ? success : { ...success, ignored })
  }
  t.equal(stored.length, before + cases.length)
  const parameters = ['charset=UTF-8', 'charset="utf-8"', 'charset=us-ascii', 'version=1']
  const more: Record<string, string>[] = [
    { 'content-encoding': 'Identity' },
    { authorization: basic('kitchen', passwords.kitchen.toUpperCase()) },
    ...parameters.map(text => ({ 'content-type': `application/json; ${text}` })),
  ]
  for (const headers of more) await answers(t, JSON.stringify(headers), await put(good, headers), 200, success)
  await answers(t, 'with a slash at the end', await send(asKitchen, good, '/api/log/'), 200, success)
})

tap.test('a device that may not write is rejected', async t => {
  const attempts: [string, Record<string, string>][] = [
    ['no credentials', {}],
    ['a wrong password', { authorization: basic('kitchen', 'f'.repeat(64)) }],
    ['an unknown device', { authorization: basic('nobody', passwords.kitchen) }],
    ['another scheme', { authorization: `Bearer ${passwords.kitchen}` }],
    ['no base64', { authorization: 'Basic ***' }],
  ]
  await nothingStored(t, async () => {
    for (const [name, headers] of attempts) {
      const response = await send(headers, good)
      t.equal(response.headers.get('www-authenticate'), 'Basic realm="logger", charset="UTF-8"')
      await answers(t, name, response, 401, unauthorized)
    }
    const mismatch = { status: 'device mismatch' }
    await answers(t, 'the name of another', await put({ ...good, device: 'silent' }), 403, mismatch)
    const off = await server.put('silent', passwords.silent, { ...good, device: 'silent' })
    await answers(t, 'switched off', off, 403, { status: 'logging disabled' })
  })
})

tap.test('an API key with the scope ingest writes the devices of its owner', async t => {
  const { key, owner } = await addKey('ada@example.com')
  await addDevice('of-ada', { owner })
  const reading = await addKey('reader@example.com', { scopes: ['read'] })
  const { cookie } = await people.cookieOf(owner)
  const by = { 'x-api-key': key }
  const keyed = { ...by, 'idempotency-key': 'once' }
  const lacking = { status: 'forbidden', detail: 'the API key lacks the scope ingest' }
  const cases: [string, Record<string, string>, object, number, object][] = [
    ['as X-API-Key', by, {}, 200, success],
    ['as a bearer', { authorization: `Bearer ${key}` }, {}, 200, success],
    ['a device of another owner', by, { device: 'kitchen' }, 403, foreign],
    ['an unknown device', by, { device: 'nowhere' }, 404, { status: 'device unknown' }],
    ['no device', by, { device: undefined }, 400, invalid({ device: 'is required' })],
    ['another scope', { 'x-api-key': reading.key }, {}, 403, lacking],
    ['a key that is none', { 'x-api-key': `${key.slice(0, -1)}!` }, {}, 401, unauthorized],
    ['two credentials', { ...by, ...asKitchen }, {}, 401, unauthorized],
    ['a key twice', { ...by, authorization: `Bearer ${key}` }, {}, 401, unauthorized],
    ['a session', { cookie }, {}, 401, unauthorized],
    ['with an idempotency key', keyed, {}, 200, success],
    ['again', keyed, {}, 200, success],
    ['for another reading', keyed, { temperature: 1 }, 422, { status: 'idempotency key belongs to another request' }],
  ]
  for (const [name, headers, more, status, body] of cases) {
    await answers(t, name, await send(headers, { ...good, device: 'of-ada', ...more }), status, body)
  }
})

tap.test('an API key that may add devices adds them with their first reading', async t => {
  const { key, owner } = await addKey('eve@example.com', { createDevices: true })
  const takes = async (device: string, status: number, body: object, more = {}) =>
    await answers(t, device, await send({ 'x-api-key': key }, { ...good, device, ...more }), status, body)
  await takes('eve-1', 400, invalid({ temperature: 'must be a number or null' }), { temperature: 'warm' })
  t.equal(devices.get('eve-1'), undefined)
  for (const name of ['eve-1', 'eve-2']) {
    await takes(name, 200, success)
    t.equal(devices.get(name)?.owner, owner)
  }
  await takes('eve+3', 400, invalid({ device: 'must not contain ":", "/", "+" or "#"' }))
  await takes('eve-3', 403, { status: 'too many devices of the owner' })
  await takes('kitchen', 403, foreign)
  await takes('eve-1', 200, success)
})

tap.test('a reading whose credential ends while it arrives is not stored', async t => {
  const { key, owner, keyId } = await addKey('ending@example.com')
  const password = await addDevice('ending', { owner })
  const shed = await addDevice('shed')
  const cases: [string, Record<string, string>, () => Promise<unknown>][] = [
    ['ending', { authorization: basic('ending', password) }, () => devices.rotate('ending', true, 'test')],
    ['ending', { 'x-api-key': key }, () => people.keys.revokeAny(keyId, 'test')],
    ['shed', { authorization: basic('shed', shed) }, () => devices.remove(devices.get('shed')?.number ?? 0, 'test')],
  ]
  for (const [device, credential, end] of cases) {
    const headers = { ...credential, 'content-type': 'application/json', expect: '100-continue' }
    const sent = request(`${url}/api/log`, { method: 'PUT', headers })
    const answered = once(sent, 'response')
    sent.flushHeaders()
    // The server sends 100 Continue after it has checked the credentials.
    await once(sent, 'continue')
    sent.write(JSON.stringify({ ...good, device }).slice(0, -1))
    t.match(await end(), { ok: true }, 'the credential ends')
    await nothingStored(t, async () => {
      sent.end('}')
      const [response] = (await answered) as [IncomingMessage]
      t.strictSame([response.statusCode, await json(response)], [401, unauthorized])
    })
  }
})

tap.test('a rejection names each wrong field', async t => {
  const zone = { timestamp: 'must be ISO 8601 with a zone, or an epoch in s, ms, µs or ns' }
  const cases: [string, unknown, Record<string, string>][] = [
    ['no device', { ...good, device: undefined }, { device: 'is required' }],
    ['a device that is no text', { ...good, device: 5 }, { device: 'must be a string' }],
    ['text for a number', { ...good, temperature: '21' }, { temperature: 'must be a number or null' }],
    ['a time without a zone', { ...good, timestamp: '2026-01-01T00:00:00' }, zone],
  ]
  for (const [name, body, errors] of cases) {
    await answers(t, name, await put(body), 400, invalid(errors))
  }
})

tap.test('a body other than a JSON object is rejected', async t => {
  const notJson = { status: 'invalid json' }
  for (const text of ['', '{', 'null', '"x"', '5', '{"device":"kitchen",}', '\ufeff', '\ufeff\ufeff{}']) {
    await answers(t, JSON.stringify(text), await put(text), 400, notJson)
  }
  const detail = 'one reading a request; batches go to POST /api/log/batch'
  await answers(t, 'a batch', await put([good, good]), 400, { ...notJson, detail })
  const wanted = 'send Content-Type: application/json, and no Content-Encoding'
  const unsupported = { status: 'unsupported media type', detail: wanted }
  const types = ['text/plain', ...['utf-16', '"UTF-16LE"', 'iso-8859-1'].map(set => `application/json; charset=${set}`)]
  const headers = [...types.map(type => ({ 'content-type': type })), { 'content-encoding': 'compress' }]
  for (const header of headers as Record<string, string>[]) {
    await answers(t, JSON.stringify(header), await put(good, header), 415, unsupported)
  }
  const long = await put({ ...good, padding: 'x'.repeat(65_536) })
  await answers(t, 'too long', long, 413, { status: 'payload too large' })
  const metrics = await (await fetch(`${url}/metrics`)).text()
  t.match(metrics, /_rejected_total\{reason="media_type"\} 5\n/)
  t.match(metrics, /_rejected_total\{reason="too_large"\} 1\n/)
  t.match(metrics, /request_duration_seconds_count\{method="PUT",route="\/api\/log",status="2xx"\} \d+\n/)
  const bytes = `${JSON.stringify(good).slice(0, -1)},"x":"\xff"}`
  const request = Buffer.from(`${head}content-length: ${bytes.length}\r\n\r\n${bytes}`, 'latin1')
  t.match(await exchangeRaw(t, url, request), /^HTTP\/1.1 400 /, 'invalid UTF-8')
})

tap.test('an absent body times out, unlike an idle connection', async t => {
  await nothingStored(t, async () => {
    const text = JSON.stringify(good)
    const waiting = await openRaw(t, url)
    waiting.socket.write(`${head}content-length: ${text.length}\r\n\r\n${text.slice(0, 10)}`)
    const kept = await openRaw(t, url)
    kept.socket.write(`${head}content-length: 0\r\n\r\n`)
    await until('there is an answer', () => waiting.received().includes('\r\n\r\n') || waiting.socket.closed)
    t.match(waiting.received(), /^HTTP\/1\.1 408 .*\r\nconnection: close\r\n.*\{"status":"timeout"\}$/is)
    waiting.socket.write(text.slice(10))
    await waiting.closed
    kept.socket.write(`${head}content-length: 0\r\n\r\n`)
    await until('it is answered too', () => kept.answers() === 2 || kept.socket.closed)
    t.equal(kept.answers(), 2)
  })
})

tap.test('rejected idempotency keys have a reason, without effect on other readings', async t => {
  const porch = await addDevice('porch')
  const sends = async (name: string, key: string, more: object, status: number, body: object) => {
    const sent = { ...good, device: 'porch', ...more }
    const response = await server.put('porch', porch, sent, { 'idempotency-key': key })
    t.match([response.status, await response.json()], [status, body], name)
    return response.headers.get('retry-after')
  }
  await sends('a key that is none', '"a', {}, 400, { status: 'invalid idempotency key', detail: /^must/ })
  await sends('a refused reading', 'a', { temperature: 'x' }, 400, { status: 'invalid payload' })
  await sends('which has no key', 'a', {}, 200, success)
  await sends('the same in quotation marks', '"a"', {}, 200, success)
  const timestamp = Date.now()
  await sends('with a time', 'b', { timestamp }, 200, success)
  await sends('another time', 'b', { timestamp: timestamp - 1 }, 422, {})
  t.equal(await sends('too many', 'c', {}, 429, { status: 'too many idempotency keys' }), '600')
  await sends('of another device', 'c', { device: 'barn' }, 403, {})
  await answers(t, 'no key', await server.put('porch', porch, { ...good, device: 'porch' }), 200, success)
})

tap.test('only failed attempts are delayed', async t => {
  const wrong = { authorization: basic('kitchen', 'e'.repeat(64)) }
  // The requests are sent at once, since the limit is one a minute and the machine may be slow.
  const tried = await Promise.all(Array.from({ length: 100 }, () => put(good, wrong)))
  const throttled = tried.find(({ status }) => status === 429)
  t.match(throttled?.headers.get('retry-after'), /^\d+$/)
  t.strictSame(await throttled?.json(), { status: 'too many failed attempts' })
  t.equal((await put(good)).status, 200)
})

tap.test('a device that exceeds its share has to wait', async t => {
  const flood = await addDevice('flood')
  const sent = Array.from({ length: 220 }, () => server.put('flood', flood, { device: 'flood', temperature: 1 }))
  const statuses = (await Promise.all(sent)).map(({ status }) => status)
  t.ok(statuses.includes(429))
  t.ok(statuses.filter(status => status === 200).length >= 200)
})
