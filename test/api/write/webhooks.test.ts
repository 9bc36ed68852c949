/** Webhooks on a real socket, with real registries and a real journal. */

import tap from 'tap'
import { basic } from '../../support/service.ts'
import { startWriteServer } from '../write-server.ts'

const server = await startWriteServer(tap, { DEVICES_PER_OWNER: '2', FAILED_ATTEMPTS: '50' })
const { url, stored, people, metrics } = server
const { key, owner, keyId } = await server.addKey('owner@example.com', { createDevices: true })
const reader = await server.addKey('reader@example.com', { scopes: ['ingest', 'read'] })
const password = await server.addDevice('porch', { owner })

const message = { temperature: 21.5, humidity: 48 }
const json = (path: string, body: unknown = message, headers: Record<string, string> = {}) =>
  fetch(url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })

async function answer(response: Response): Promise<[number, unknown]> {
  return [response.status, await response.json()]
}

tap.test('a message is stored before its response, by a key in the path, in a header and by a device', async t => {
  const ways: [string, () => Promise<Response>][] = [
    ['in the path', () => json(`/in/thingsboard/${key}?device=porch`)],
    ['as X-API-Key', () => json('/in/thingsboard?device=porch', message, { 'x-api-key': key })],
    ['as a bearer token', () => json('/in/thingsboard?device=porch', message, { authorization: `Bearer ${key}` })],
    [
      'of a device, which need not be named',
      () => json('/in/thingsboard', message, { authorization: basic('porch', password) }),
    ],
    ['by GET', () => fetch(`${url}/in/wunderground/${key}?ID=porch&tempf=70.7&humidity=48`)],
    [
      'as a form',
      () =>
        fetch(`${url}/in/wunderground/${key}`, {
          method: 'POST',
          body: new URLSearchParams('ID=porch&tempf=70.7&humidity=48'),
        }),
    ],
    [
      'by the path of Weather Underground',
      () => fetch(`${url}/weatherstation/updateweatherstation.php?ID=porch&PASSWORD=${key}&tempf=70.7&humidity=48`),
    ],
    [
      'without a media type',
      () => json(`/in/thingsboard/${key}?device=porch`, message, { 'content-type': 'text/plain' }),
    ],
  ]
  for (const [name, send] of ways) {
    const before = stored.length
    t.strictSame(await answer(await send()), [200, { status: 'success', stored: 1 }], name)
    t.strictSame(stored.length, before + 1, `${name}: it is on disk`)
    t.match(stored.at(-1), { device: 'porch', reading: { temperature: 21.5, humidity: 48 } }, name)
  }
})

tap.test('a missing device is added for the owner of the key, within its limit', async t => {
  t.strictSame((await json(`/in/thingsboard/${key}?device=attic`)).status, 200)
  t.match(server.devices.get('attic'), { owner })
  const refused = await answer(await json(`/in/thingsboard/${key}?device=cellar`))
  t.strictSame(refused, [403, { status: 'too many devices of the owner' }])
  t.equal(server.devices.get('cellar'), undefined)
})

tap.test('fields without a metric create one', async t => {
  t.strictSame((await json(`/in/thingsboard/${key}?device=porch`, { hive_weight: 31.5 })).status, 200)
  t.ok(metrics.find('hive_weight'))
})

tap.test('the bad ones of several readings are named and left out', async t => {
  const gateway = { porch: [{ values: message }], nobody: [{ values: message }] }
  const [status, body] = await answer(await json(`/in/thingsboard/${key}`, gateway))
  t.equal(status, 200)
  t.match(body, { status: 'success', stored: 1, rejected: [{ device: 'nobody', reason: /too many devices/ }] })
})

tap.test('refusals have their status and reason', async t => {
  const before = stored.length
  const detail = 'a key in an address must have the scope ingest and no other'
  // A key may end with any letter.
  const otherKey = `${key.slice(0, -1)}${key.endsWith('x') ? 'y' : 'x'}`
  const cases: [string, () => Promise<Response>, number, object][] = [
    ['no key', () => json('/in/thingsboard?device=porch'), 401, { status: 'unauthorized' }],
    ['another key', () => json(`/in/thingsboard/${otherKey}?device=porch`), 401, { status: 'unauthorized' }],
    [
      'a key that reads',
      () => json(`/in/thingsboard/${reader.key}?device=porch`),
      403,
      { status: 'forbidden', detail },
    ],
    ['no family', () => json(`/in/none/${key}`), 404, { status: 'not found' }],
    ['broken JSON', () => json(`/in/thingsboard/${key}`, '{'), 400, { status: 'invalid json' }],
    [
      'a form that is not UTF-8',
      () =>
        fetch(`${url}/in/ecowitt/${key}`, {
          method: 'POST',
          headers: { 'content-type': 'application/x-www-form-urlencoded' },
          body: 'tempf=%FF',
        }),
      400,
      {},
    ],
    [
      'no device',
      () => json(`/in/airgradient/${key}`, { rco2: 400 }),
      400,
      { status: 'invalid payload', detail: /names no device/ },
    ],
    [
      'a bad value',
      () => json(`/in/airgradient/${key}?device=porch`, { atmp: 'warm' }),
      400,
      { status: 'invalid payload', errors: { temperature: 'must be a number or null' } },
    ],
    [
      'too large',
      () => json(`/in/thingsboard/${key}`, `"${'x'.repeat(256 * 1024)}"`),
      413,
      { status: 'payload too large' },
    ],
    [
      'another method',
      () => fetch(`${url}/in/thingsboard/${key}`, { method: 'PUT' }),
      405,
      { status: 'method not allowed' },
    ],
  ]
  for (const [name, send, status, body] of cases) {
    const found = await answer(await send())
    t.equal(found[0], status, name)
    t.match(found[1], body, name)
  }
  t.equal((await fetch(`${url}/in/ecowitt/${key}?tempf=50`, { method: 'HEAD' })).status, 405, 'HEAD stores nothing')
  t.equal(stored.length, before, 'nothing is stored')
})

tap.test('a custom decoder has a webhook and its earlier messages at once', async t => {
  const body = { box: 'porch', t: 70.7, password: 'secret' }
  const [status, refused] = await answer(await json(`/in/garden/${key}`, body))
  t.equal(status, 404)
  t.match(refused, { detail: /families/ })
  t.equal((await json('/in/garden/none', body)).status, 401)
  const [message] = server.recent.of((way, place) => way === 'webhook' && place === 'garden')
  t.equal(message?.text, '{"box":"porch","t":70.7,"password":"***"}')
  const fields = [{ path: 't', metric: 'temperature', unit: '°F' }]
  await server.decoders.add({ name: 'garden', device: ['{/box}'], fields, drops_others: true }, 'test')
  t.strictSame(await answer(await json(`/in/garden/${key}`, body)), [200, { status: 'success', stored: 1 }])
  t.match(stored.at(-1), { device: 'porch', reading: { temperature: 21.5 } })
  await server.decoders.change('garden', { device: ['porch'], fields }, 'test')
  t.equal((await json(`/in/garden/${key}`, { t: 50 })).status, 200)
  await server.decoders.remove('garden', 'test')
  t.equal((await json(`/in/garden/${key}`, body)).status, 404)
})

tap.test('a message without a reading is accepted', async t => {
  const join = { end_device_ids: { device_id: 'a' }, join_accept: {} }
  const expected = { status: 'success', stored: 0, detail: 'no /uplink_message' }
  t.strictSame(await answer(await json(`/in/the-things-stack/${key}`, join)), [200, expected])
})

tap.test('a revoked key stores nothing more', async t => {
  await people.keys.revoke(await people.account(owner), keyId)
  const before = stored.length
  t.strictSame(await answer(await json(`/in/thingsboard/${key}?device=porch`)), [401, { status: 'unauthorized' }])
  t.equal(stored.length, before)
})
