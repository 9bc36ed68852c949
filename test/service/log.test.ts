/** Every answer of `PUT /api/log`, from the whole service. */

import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { connect } from 'node:net'
import { json } from 'node:stream/consumers'
import tap, { type Test } from 'tap'
import { makePerson } from '../support/people.ts'
import { until } from '../support/processes.ts'
import { basic, type Service, startService, withoutQuestdb } from '../support/service.ts'
import { makeKey } from '../support/station-keys.ts'

const good = { device: 'kitchen', temperature: 21.5, humidity: 48, pressure: 1013.2 }
const challenge = 'Basic realm="logger", charset="UTF-8"'

async function answers(t: Test, name: string, response: Response, status: number, body: unknown): Promise<void> {
  t.equal(response.status, status, `${name}: status`)
  t.equal(
    response.headers.get('content-length'),
    String(Buffer.byteLength(JSON.stringify(body))),
    `${name}: has a length`,
  )
  t.strictSame(await response.json(), body, name)
}

/** Bytes as they are, for what a proper client would not send; resolves with everything that comes back. */
async function sendRaw(service: Service, text: string): Promise<string> {
  const { hostname, port } = new URL(service.url)
  const socket = connect(Number(port), hostname)
  socket.end(text)
  let answer = ''
  socket.on('data', piece => (answer += piece.toString('latin1')))
  await once(socket, 'close')
  return answer
}

async function dayOf(service: Service, device: string, timeMs = Date.now()): Promise<Record<string, { v: number }[]>> {
  const day = new Date(timeMs).toISOString().slice(0, 10)
  const response = await fetch(`${service.url}/api/data/day/${encodeURIComponent(device)}/${day}`)
  return (await response.json()) as Record<string, { v: number }[]>
}

const service = await startService(tap, { environment: { FAILED_ATTEMPTS: '30', DEVICES_PER_OWNER: '2' } })
const password = await service.addDevice('kitchen')
const battery = await service.addDevice('battery', { battery: true })
const silent = await service.addDevice('silent', { log_switch: false })
const put = (body: unknown, headers?: Record<string, string>) => service.put('kitchen', password, body, headers)

tap.test('what is good is stored', async t => {
  const cases: [string, Record<string, unknown>][] = [
    ['the four fields', good],
    ['null is a missing metric', { ...good, humidity: null, pressure: null }],
    ['a time as text', { ...good, timestamp: new Date(Date.now() - 60_000).toISOString() }],
    ['a time as a number', { ...good, timestamp: Date.now() - 30_000 }],
    ['the edges of the ranges', { ...good, temperature: -90, humidity: 103, pressure: 300, 'battery percentage': 110 }],
  ]
  for (const [name, body] of cases) await answers(t, name, await put(body), 200, { status: 'success' })
  await answers(
    t,
    'the last of two keys wins',
    await put(JSON.stringify(good).replace('{', '{"temperature":"x",')),
    200,
    { status: 'success' },
  )
  await answers(t, 'a coding that is none', await put(good, { 'content-encoding': 'Identity' }), 200, {
    status: 'success',
  })
  const upper = { authorization: basic('kitchen', password.toUpperCase()) }
  await answers(t, 'letter case of the password is nothing', await put(good, upper), 200, { status: 'success' })
  const slash = await fetch(`${service.url}/api/log/`, {
    method: 'PUT',
    headers: { authorization: basic('kitchen', password), 'content-type': 'application/json; charset=utf-8' },
    body: JSON.stringify(good),
    redirect: 'error',
  })
  await answers(t, 'with a slash at the end', slash, 200, { status: 'success' })
  const sent = { ...good, device: 'battery', 'battery voltage': 3.7, 'battery percentage': 88 }
  await answers(t, 'battery', await service.put('battery', battery, sent), 200, { status: 'success' })
})

tap.test('what is not stored is named in the answer', async t => {
  const takes = async (name: string, body: unknown, ignored: string[]) =>
    await answers(t, name, await put(body), 200, { status: 'success', ignored })
  await takes('one', { ...good, note: 'dry' }, ['note'])
  await takes('as it was spelled', { Battery: 'full', ...good, nested: { deep: [1] }, __proto: '', none: null }, [
    'Battery',
    'nested',
    '__proto',
  ])
  await takes('a name that means something to JavaScript', `${JSON.stringify(good).slice(0, -1)},"__proto__":""}`, [
    '__proto__',
  ])
  await takes('what can be no metric', { ...good, '%': 1, hour: 20, dew_point: 9 }, ['%', 'hour', 'dew_point'])
  const numbered = Array.from({ length: 1_000 }, (_, index) => [`field ${index}`, String(index)])
  const first = numbered.slice(0, 20).map(([name]) => name)
  await takes('of many the first twenty', { ...Object.fromEntries(numbered), ...good }, first as string[])
  await takes('long ones are cut', { ...good, ['x'.repeat(10_000)]: 1 }, [`${'x'.repeat(63)}…`])
})

tap.test('a battery is taken in both spellings, and the last one wins', async t => {
  const garage = await service.addDevice('garage', { battery: true })
  const sent = { ...good, device: 'garage' }
  const takes = async (name: string, body: unknown) =>
    await answers(t, name, await service.put('garage', garage, body), 200, { status: 'success' })
  const refuses = async (name: string, body: unknown, errors: object) =>
    await answers(t, name, await service.put('garage', garage, body), 400, { status: 'invalid payload', errors })
  await takes('with an underscore', { ...sent, battery_voltage: 3.7, battery_percentage: 88 })
  await takes('one of each', { ...sent, battery_voltage: 3.7, 'battery percentage': 88 })
  const last = { ...sent, 'battery voltage': 3.7, battery_voltage: 300, battery_percentage: 88 }
  const answer = await service.put('garage', garage, last)
  await answers(t, 'the underscore last', answer, 200, { status: 'success', ignored: ['battery_voltage'] })
  await takes('the blank last', { ...sent, battery_voltage: 300, 'battery voltage': 3.7, battery_percentage: 88 })
  await refuses(
    'as it was spelled',
    { ...sent, battery_voltage: 'full', battery_percentage: null },
    { battery_voltage: 'must be a number or null' },
  )
})

tap.test('who may not is told so, and nothing is stored', async t => {
  const unauthorized = { status: 'unauthorized' }
  const attempts: [string, Record<string, string>][] = [
    ['no credentials', {}],
    ['a wrong password', { authorization: basic('kitchen', 'f'.repeat(64)) }],
    ['an unknown device', { authorization: basic('nobody', password) }],
    ['another scheme', { authorization: `Bearer ${password}` }],
    ['no base64', { authorization: 'Basic ***' }],
  ]
  for (const [name, headers] of attempts) {
    const response = await fetch(`${service.url}/api/log`, {
      method: 'PUT',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(good),
    })
    t.equal(response.headers.get('www-authenticate'), challenge)
    await answers(t, name, response, 401, unauthorized)
  }
  await answers(t, 'the name of another', await put({ ...good, device: 'battery' }), 403, {
    status: 'device mismatch',
  })
  await answers(t, 'switched off', await service.put('silent', silent, { ...good, device: 'silent' }), 403, {
    status: 'logging disabled',
  })
  await until('QuestDB answers', async () => (await dayOf(service, 'silent'))['temperature'] !== undefined)
  t.strictSame(await dayOf(service, 'silent'), { temperature: [], humidity: [], pressure: [] })
})

tap.test('an API key with the scope ingest writes the devices of its owner, as in batches', async t => {
  const [ada, administrator] = [await makePerson(service), await makePerson(service, { role: 'administrator' })]
  await service.addDevice('of-ada', { owner: ada.id })
  const keyOf = (cookie: string, scopes: string[], more = {}) => makeKey(service.url, cookie, scopes, more)
  const key = await keyOf(ada.cookie, ['ingest'])
  const send = (headers: Record<string, string>, body: unknown) =>
    fetch(`${service.url}/api/log`, {
      method: 'PUT',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    })
  const sends = async (name: string, headers: Record<string, string>, more: object, status: number, body: object) =>
    await answers(t, name, await send(headers, { ...good, device: 'of-ada', ...more }), status, body)
  const success = { status: 'success' }
  await sends('as X-API-Key', { 'x-api-key': key }, {}, 200, success)
  await sends('as a bearer', { authorization: `Bearer ${key}` }, {}, 200, success)
  const all = { 'x-api-key': await keyOf(administrator.cookie, ['ingest']) }
  await sends('of an administrator', all, { device: 'kitchen' }, 200, success)
  await sends('a device of somebody else', { 'x-api-key': key }, { device: 'kitchen' }, 403, {
    status: 'device mismatch',
    detail: 'the device does not belong to the owner of the API key, or lacks a tag that the key is limited to',
  })
  await sends('an unknown device', { 'x-api-key': key }, { device: 'nowhere' }, 404, { status: 'device unknown' })
  await sends('no device', { 'x-api-key': key }, { device: undefined }, 400, {
    status: 'invalid payload',
    errors: { device: 'is required' },
  })
  await sends('another scope', { 'x-api-key': await keyOf(ada.cookie, ['read']) }, {}, 403, {
    status: 'forbidden',
    detail: 'the API key lacks the scope ingest',
  })
  const nobody: [string, Record<string, string>][] = [
    ['a key that is none', { 'x-api-key': `${key.slice(0, -1)}!` }],
    ['two credentials', { 'x-api-key': key, authorization: basic('kitchen', password) }],
    ['a key twice', { 'x-api-key': key, authorization: `Bearer ${key}` }],
    ['a session', { cookie: ada.cookie }],
    ['a token', { authorization: `Bearer ${await ada.bearer()}` }],
  ]
  for (const [name, headers] of nobody) await sends(name, headers, {}, 401, { status: 'unauthorized' })
  const keyed = { 'x-api-key': key, 'idempotency-key': 'once' }
  await sends('with an idempotency key', keyed, {}, 200, success)
  await sends('again', keyed, {}, 200, success)
  await sends('for another reading', keyed, { temperature: 1 }, 422, {
    status: 'idempotency key belongs to another request',
  })
})

tap.test('a reading whose credential ends while it comes in is not stored', async t => {
  const ada = await makePerson(service)
  const first = await service.addDevice('ending', { owner: ada.id })
  const key = await makeKey(service.url, ada.cookie, ['ingest'])
  const revoke = async () => {
    const { body } = await service.admin('GET', `/keys?account=${ada.id}`)
    const [made] = (body as { keys: { id: number }[] }).keys
    return await service.admin('DELETE', `/keys/${made?.id}`)
  }
  const cases: [Record<string, string>, () => Promise<{ status: number }>][] = [
    [{ authorization: basic('ending', first) }, () => service.admin('POST', '/devices/ending/rotate?now=1')],
    [{ 'x-api-key': key }, revoke],
  ]
  for (const [credential, end] of cases) {
    const headers = { ...credential, 'content-type': 'application/json', expect: '100-continue' }
    const sent = request(`${service.url}/api/log`, { method: 'PUT', headers })
    const answered = once(sent, 'response')
    sent.flushHeaders()
    await once(sent, 'continue')
    sent.write(JSON.stringify({ ...good, device: 'ending' }).slice(0, -1))
    const { status } = await end()
    t.ok(status < 300, `the credential ends: ${status}`)
    sent.end('}')
    const [response] = (await answered) as [IncomingMessage]
    t.equal(response.statusCode, 401)
    t.strictSame(await json(response), { status: 'unauthorized' })
  }
})

tap.test('an API key that may add devices makes them with their first reading', async t => {
  const eve = await makePerson(service)
  const key = await makeKey(service.url, eve.cookie, ['ingest'], { create_devices: true })
  const headers = { 'x-api-key': key, 'content-type': 'application/json' }
  const send = (device: string, more = {}) =>
    fetch(`${service.url}/api/log`, { method: 'PUT', headers, body: JSON.stringify({ ...good, device, ...more }) })
  const ownerOf = async (name: string) =>
    ((await service.admin('GET', `/devices/${name}`)).body as { owner?: number }).owner
  await answers(t, 'not with a reading that is none', await send('eve-1', { temperature: 'warm' }), 400, {
    status: 'invalid payload',
    errors: { temperature: 'must be a number or null' },
  })
  t.equal(await ownerOf('eve-1'), undefined)
  for (const name of ['eve-1', 'eve-2']) {
    await answers(t, name, await send(name), 200, { status: 'success' })
    t.equal(await ownerOf(name), eve.id)
  }
  await answers(t, 'a name that is none', await send('eve+3'), 400, {
    status: 'invalid payload',
    errors: { device: 'must not contain ":", "/", "+" or "#"' },
  })
  await answers(t, 'one too many', await send('eve-3'), 403, { status: 'too many devices of the owner' })
  await answers(t, 'of somebody else', await send('kitchen'), 403, {
    status: 'device mismatch',
    detail: 'the device does not belong to the owner of the API key, or lacks a tag that the key is limited to',
  })
  await answers(t, 'those that are there', await send('eve-1'), 200, { status: 'success' })
})

tap.test('what is wrong is named', async t => {
  const between = (min: number, max: number) => `must be between ${min} and ${max}`
  const alone = { device: 'kitchen', temperature: undefined, humidity: undefined, pressure: undefined }
  const beforeClocks = 'must not be before 2000-01-01 (a clock that is not set says 1970)'
  const cases: [string, unknown, Record<string, string>][] = [
    ['no device', { ...good, device: undefined }, { device: 'is required' }],
    ['a device that is no text', { ...good, device: 5 }, { device: 'must be a string' }],
    ['nothing but the device', { device: 'kitchen' }, { temperature: 'at least one metric must be a number' }],
    ['text for a number', { ...good, temperature: '21' }, { temperature: 'must be a number or null' }],
    ['too cold', { ...alone, temperature: -90.1 }, { temperature: between(-90, 85) }],
    ['too dry', { ...alone, humidity: -0.1 }, { humidity: between(0, 103) }],
    ['too wet', { ...alone, humidity: 103.1 }, { humidity: between(0, 103) }],
    ['too high', { ...alone, pressure: 299 }, { pressure: between(300, 1100) }],
    ['too full', { ...alone, 'battery percentage': 111 }, { 'battery percentage': between(0, 110) }],
    [
      'nothing measured',
      { ...good, temperature: null, humidity: null, pressure: null },
      { temperature: 'at least one metric must be a number' },
    ],
    [
      'a time without a zone',
      { ...good, timestamp: '2026-01-01T00:00:00' },
      { timestamp: 'must be ISO 8601 with a zone, or an epoch in s, ms, µs or ns' },
    ],
    [
      'a day that is none',
      { ...good, timestamp: '2026-02-30T00:00:00Z' },
      { timestamp: 'must be ISO 8601 with a zone, or an epoch in s, ms, µs or ns' },
    ],
    ['before 2000', { ...good, timestamp: 946_684_799_999 }, { timestamp: beforeClocks }],
    ['two times', { ...good, ts: 1_767_225_600, time: 1_767_225_700 }, { time: 'is another time than ts' }],
    ['too few even for seconds', { ...good, timestamp: 946_684_799 }, { timestamp: beforeClocks }],
    ['the future', { ...good, timestamp: Date.now() + 400_000 }, { timestamp: 'must not be in the future' }],
  ]
  for (const [name, body, errors] of cases) {
    await answers(t, name, await put(body), 400, { status: 'invalid payload', errors })
  }
})

tap.test('a value out of range is missing, the others are stored, and the answer names it', async t => {
  const takes = async (name: string, body: unknown, ignored: string[]) =>
    await answers(t, name, await put(body), 200, { status: 'success', ignored })
  await takes('a sensor that is not connected', { ...good, temperature: -127, co2: 600 }, ['temperature'])
  await takes('infinity', JSON.stringify(good).replace('21.5', '1e999'), ['temperature'])
  await takes('two of them, and a note', { ...good, humidity: 104, pressure: 0, note: 'dry' }, [
    'humidity',
    'pressure',
    'note',
  ])
})

tap.test('a time may be in any unit, and under another name', async t => {
  const seconds = Math.floor(Date.now() / 1000)
  for (const time of [seconds, seconds * 1000, seconds * 1e6, seconds * 1e9, String(seconds)]) {
    await answers(t, `timestamp ${time}`, await put({ ...good, timestamp: time }), 200, { status: 'success' })
    await answers(t, `Time ${time}`, await put({ ...good, Time: time }), 200, { status: 'success' })
  }
})

tap.test('one value is a reading, also of a device that has a battery', async t => {
  const one = await service.put('battery', battery, { device: 'battery', temperature: 21.5 })
  await answers(t, 'temperature alone', one, 200, { status: 'success' })
})

tap.test('bodies that are none', async t => {
  const invalid = { status: 'invalid json' }
  for (const text of ['', '{', 'null', '"x"', '5', '{"device":"kitchen",}']) {
    await answers(t, JSON.stringify(text), await put(text), 400, invalid)
  }
  await answers(t, 'a batch', await put([good, good]), 400, {
    ...invalid,
    detail: 'one reading a request; batches go to POST /api/log/batch',
  })
  const unsupported = {
    status: 'unsupported media type',
    detail: 'send Content-Type: application/json, and no Content-Encoding',
  }
  await answers(t, 'another media type', await put(good, { 'content-type': 'text/plain' }), 415, unsupported)
  await answers(
    t,
    'a coding that we do not know',
    await put(good, { 'content-encoding': 'compress' }),
    415,
    unsupported,
  )
  await answers(t, 'too long', await put({ ...good, padding: 'x'.repeat(65_536) }), 413, {
    status: 'payload too large',
  })
  const metrics = await (await fetch(`${service.url}/metrics`)).text()
  t.match(metrics, /_rejected_total\{reason="media_type"\} 2\n/)
  t.match(metrics, /_rejected_total\{reason="too_large"\} 1\n/)
  t.match(metrics, /request_duration_seconds_count\{method="PUT",route="\/api\/log",status="2xx"\} \d+\n/)
  const head = `PUT /api/log HTTP/1.1\r\nhost: x\r\nauthorization: ${basic('kitchen', password)}\r\ncontent-type: application/json\r\nconnection: close\r\n`
  const bytes = `${JSON.stringify(good).slice(0, -1)},"x":"\xff"}`
  const socket = connect(Number(new URL(service.url).port), '127.0.0.1')
  socket.end(Buffer.from(`${head}content-length: ${bytes.length}\r\n\r\n${bytes}`, 'latin1'))
  let answer = ''
  socket.on('data', piece => (answer += piece))
  await once(socket, 'close')
  t.match(answer, /^HTTP\/1.1 400 /, 'invalid UTF-8')
})

tap.test('wrong methods', async t => {
  for (const method of ['GET', 'POST', 'DELETE', 'PATCH', 'QUERY']) {
    const response = await fetch(`${service.url}/api/log`, { method })
    t.equal(response.headers.get('allow'), 'PUT')
    await answers(t, method, response, 405, { status: 'method not allowed' })
  }
  t.match(await sendRaw(service, 'TRACE /api/log HTTP/1.1\r\nhost: x\r\n\r\n'), / 405 .*allow: PUT/is)
})

tap.test('HTTP/1.0, a header twice, half a body', async t => {
  const body = JSON.stringify(good)
  const head = `authorization: ${basic('kitchen', password)}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n`
  t.match(
    await sendRaw(service, `PUT /api/log HTTP/1.0\r\n${head}\r\n${body}`),
    /^HTTP\/1\.1 200 .*\r\ncontent-length: 20\r\n/is,
  )
  const twice = `PUT /api/log HTTP/1.1\r\nhost: x\r\nconnection: close\r\nauthorization: ${basic('kitchen', 'f'.repeat(64))}\r\n${head}\r\n${body}`
  t.match(await sendRaw(service, twice), /^HTTP\/1\.1 401 /)
  const before = (await service.admin('GET', '/status')).body as { journal?: { readings?: number } }
  t.notMatch(await sendRaw(service, `PUT /api/log HTTP/1.1\r\nhost: x\r\n${head}\r\n${body.slice(0, 20)}`), / 200 /)
  const after = (await service.admin('GET', '/status')).body as { journal?: { readings?: number } }
  t.strictSame(after.journal?.readings, before.journal?.readings, 'never half a reading')
})

tap.test('what is no HTTP is answered in the same shape, and never in the place of a reading', async t => {
  const cases: [string, string, RegExp][] = [
    ['an unknown method', 'FOO /api/log HTTP/1.1\r\nhost: x\r\n\r\n', / 400 .*"status":"bad request"/s],
    ['rubbish', '\x00\x01\r\n\r\n', / 400 .*"status":"bad request"/s],
    [
      'long headers',
      `PUT /api/log HTTP/1.1\r\nx: ${'y'.repeat(70_000)}\r\n\r\n`,
      / 431 .*"status":"headers too large"/s,
    ],
  ]
  for (const [name, text, answer] of cases) t.match(await sendRaw(service, text), answer, name)
  const body = JSON.stringify(good)
  const head = `PUT /api/log HTTP/1.1\r\nhost: x\r\nauthorization: ${basic('kitchen', password)}\r\ncontent-type: application/json\r\n`
  const chunked = `${head}transfer-encoding: chunked\r\n\r\n`
  t.match(await sendRaw(service, `${chunked}zz\r\n`), / 400 .*"status":"bad request"/s, 'a body with faulty chunks')
  const whole = `${head}content-length: ${body.length}\r\n\r\n${body}`
  t.notMatch(await sendRaw(service, `${whole}rubbish\r\n\r\n`), / 4\d\d /, 'a whole reading with rubbish behind it')
})

tap.test('a revoked credential is refused by the next request', async t => {
  const old = await service.addDevice('hall')
  const sent = { ...good, device: 'hall' }
  t.equal((await service.put('hall', old, sent)).status, 200)
  const rotated = (await service.admin('POST', '/devices/hall/rotate')).body as { password: string }
  t.equal((await service.put('hall', old, sent)).status, 200, 'the old one counts for a while')
  t.equal((await service.put('hall', rotated.password, sent)).status, 200, 'and the new one already')
  const again = (await service.admin('POST', '/devices/hall/rotate?now=1')).body as { password: string }
  t.equal((await service.put('hall', old, sent)).status, 401)
  t.equal((await service.put('hall', rotated.password, sent)).status, 401)
  t.equal((await service.put('hall', again.password, sent)).status, 200)
  await service.admin('DELETE', '/devices/hall')
  t.equal((await service.put('hall', again.password, sent)).status, 401)
})

tap.test('a device that is removed while its body comes in is refused, and nothing is stored', async t => {
  const body = JSON.stringify({ ...good, device: 'shed' })
  const authorization = basic('shed', await service.addDevice('shed'))
  const socket = connect(Number(new URL(service.url).port), '127.0.0.1')
  let answer = ''
  socket.on('data', piece => (answer += piece.toString()))
  const head = `PUT /api/log HTTP/1.1\r\nhost: x\r\nconnection: close\r\nauthorization: ${authorization}\r\n`
  // The server says that it goes on when it has looked at the credentials.
  socket.write(
    `${head}expect: 100-continue\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n`,
  )
  await until('the credentials were taken', () => answer.includes('100 Continue'))
  t.equal((await service.admin('DELETE', '/devices/shed')).status, 204)
  socket.write(body)
  await once(socket, 'close')
  t.match(answer, /HTTP\/1\.1 401 .*"status":"unauthorized"/s)
})

tap.test('a body for a path that is none is not waited for', async t => {
  const socket = connect(Number(new URL(service.url).port), '127.0.0.1')
  let answer = ''
  socket.on('data', piece => (answer += piece.toString()))
  socket.write('POST /api/logs HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 1000\r\n\r\n{')
  await once(socket, 'close')
  t.match(answer, /^HTTP\/1\.1 404 .*\r\nconnection: close\r\n.*"status":"not found"/is)
})

tap.test('a body that does not come is given up, and a connection that is done with its requests is not', async t => {
  const port = Number(new URL(service.url).port)
  const head = `PUT /api/log HTTP/1.1\r\nhost: x\r\nauthorization: ${basic('kitchen', password)}\r\n`
  const waiting = connect(port, '127.0.0.1').resume()
  waiting.write(`${head}content-type: application/json\r\ncontent-length: 100\r\n\r\n{`)
  const kept = connect(port, '127.0.0.1')
  let answers = ''
  kept.on('data', piece => (answers += piece.toString()))
  const count = () => answers.split('HTTP/1.1 400').length - 1
  kept.write(`${head}content-length: 0\r\n\r\n`)
  await once(waiting, 'close')
  // The sweep that met the one has met the other too, or will with its next turn.
  await new Promise(resolve => setTimeout(resolve, 1500))
  kept.write(`${head}content-length: 0\r\n\r\n`)
  await until('it is answered too', () => count() === 2 || kept.closed)
  t.equal(count(), 2)
  kept.destroy()
})

tap.test('values are stored as they should be shown', async t => {
  const garden = await service.addDevice('garden')
  const timestamp = Date.now() - 120_000
  const sent = { ...good, device: 'garden', timestamp }
  await service.put('garden', garden, { ...sent, temperature: 1 })
  await service.put('garden', garden, { ...sent, humidity: 102.5, pressure: null })
  await until('they are shown', async () => (await dayOf(service, 'garden', timestamp))['temperature']?.[0]?.v === 21.5)
  const day = await dayOf(service, 'garden', timestamp)
  t.equal(day['temperature']?.length, 1, 'the same time again replaces the whole reading')
  t.equal(day['humidity']?.[0]?.v, 100, 'above 100 is stored as 100')
  t.strictSame(day['pressure'], [])
})

tap.test('too many failing attempts are slowed down, and valid ones never', async t => {
  const wrong = { authorization: basic('kitchen', 'e'.repeat(64)) }
  // At once, since the limit is one a minute and the machine may be slow.
  const tried = await Promise.all(Array.from({ length: 100 }, () => put(good, wrong)))
  const throttled = tried.find(({ status }) => status === 429)
  t.match(throttled?.headers.get('retry-after'), /^\d+$/)
  t.strictSame(await throttled?.json(), { status: 'too many failed attempts' })
  t.equal((await put(good)).status, 200)
})

tap.test('a device that sends more than its share is told to wait', async t => {
  const service = await startService(t, { environment: { ...withoutQuestdb, DEVICE_RATE: '1', DEVICE_BURST: '3' } })
  const password = await service.addDevice('kitchen')
  const sent = await Promise.all(Array.from({ length: 60 }, () => service.put('kitchen', password, good)))
  const statuses = sent.map(({ status }) => status)
  t.ok(statuses.includes(429))
  t.ok(statuses.filter(status => status === 200).length >= 3)
})
