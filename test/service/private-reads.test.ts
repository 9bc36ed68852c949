/** READS=private: every read of the loggers asks for a credential, from the whole service. */

import t from 'tap'
import { heldText } from '../support/held-answers.ts'
import { until } from '../support/processes.ts'
import { basic, startService, withoutQuestdb } from '../support/service.ts'
import { makeKey, signInSomebody } from '../support/station-keys.ts'

const environment = { ...withoutQuestdb, READS: 'private', FAILED_ATTEMPTS: '40' }
const service = await startService(t, { environment })
const password = await service.addDevice('porch')
const otherPassword = await service.addDevice('attic')
const cookie = await signInSomebody(service.url, service.admin, 'user')
const key = await makeKey(service.url, cookie, ['read'])
const writingKey = await makeKey(service.url, cookie, ['ingest'])

async function ask(path: string, headers: Record<string, string> = {}, method = 'GET'): Promise<Response> {
  const response = await fetch(`${service.url}/api${path}`, { headers, method })
  // Events do not end.
  if (path.startsWith('/events') && response.status === 200) await response.body?.cancel()
  else await heldText(method, response.clone())
  return response
}
const own = { authorization: basic('porch', password) }

/** Of one device, which may ask itself, and of the whole fleet. */
const ofDevice = [
  '/device/porch',
  '/data/day/porch/2026-01-01',
  '/detail_data/porch',
  '/stats_data/porch',
  '/daily_summary/porch',
  '/past_window_data/porch',
  '/readings/porch?start=0&end=1',
  '/compare_data?a=porch&b=porch',
  '/latest/all/1?devices=porch',
  '/latest/porch',
  '/events?device=porch',
]
const ofFleet = [
  '/latest/all/1',
  '/fleet',
  '/fleet/insights',
  '/events',
  '/events?device=porch&device=attic',
  '/compare_data?a=porch&b=attic',
  '/latest/all/1?devices=porch,attic',
  '/device/attic',
]

t.test('nobody reads without a credential, or with one that is not good', async t => {
  const bad = [
    {},
    { 'x-api-key': 'wrong' },
    { authorization: basic('porch', 'wrong') },
    { ...own, 'x-api-key': key },
    { cookie: 'authjs.session-token=x' },
  ]
  for (const path of [...ofDevice, ...ofFleet]) {
    for (const method of ['GET', 'HEAD']) t.equal((await ask(path, {}, method)).status, 401, `${method} ${path}`)
  }
  for (const headers of bad) {
    const answer = await ask('/device/porch', headers)
    t.equal(answer.status, 401)
    t.strictSame(await answer.json(), { status: 'unauthorized' })
    t.match(answer.headers.get('cache-control'), /^private, no-store$/)
    t.equal(answer.headers.get('www-authenticate'), 'Bearer realm="logger"')
    t.equal(answer.headers.get('access-control-allow-origin'), '*')
  }
})

t.test('a person, an API key that may read and the admin token read everything', async t => {
  for (const headers of [{ cookie }, { 'x-api-key': key }, { authorization: `Bearer ${key}` }]) {
    for (const path of [...ofDevice, ...ofFleet]) {
      const answer = await ask(path, headers)
      // Without QuestDB only a device is told, and what comes in.
      t.equal(answer.status, /^\/(device|events)/.test(path) ? 200 : 503, path)
    }
  }
  t.equal((await ask('/device/porch', { 'x-api-key': writingKey })).status, 403)
})

t.test('a device reads what is its own', async t => {
  for (const path of ofDevice) t.notOk([401, 403].includes((await ask(path, own)).status), path)
  for (const path of ofFleet) {
    const answer = await ask(path, own)
    t.match([answer.status, await answer.json()], [403, { status: 'device mismatch' }], path)
  }
  const unknown = await ask('/device/nobody', own)
  t.equal(unknown.status, 403, 'whether there is another device is not told')
  t.equal((await ask('/device/attic', { authorization: basic('attic', otherPassword) })).status, 200)
})

t.test('what a client has already is not confirmed to others, and no shared cache keeps it', async t => {
  const answer = await ask('/device/porch', { cookie })
  t.equal(answer.headers.get('cache-control'), 'private, max-age=10')
  const known = { 'if-none-match': answer.headers.get('etag') ?? '' }
  t.equal((await ask('/device/porch', { ...known, cookie })).status, 304)
  t.equal((await ask('/device/porch', known)).status, 401)
})

t.test('preflights, other methods and ways in are as before', async t => {
  t.equal((await ask('/device/porch', {}, 'OPTIONS')).status, 204)
  t.equal((await ask('/device/porch', {}, 'POST')).status, 405)
  const stored = await service.put('porch', password, { device: 'porch', temperature: 1, humidity: 2, pressure: 1000 })
  t.equal(stored.status, 200)
  t.equal(stored.headers.get('cache-control'), null)
})

t.test('who guesses is told to wait, and a good credential still passes', async t => {
  let status = 0
  for (let i = 0; i < 60 && status !== 429; i++) status = (await ask('/device/porch', { 'x-api-key': `x${i}` })).status
  t.equal(status, 429)
  t.equal((await ask('/device/porch')).status, 401, 'without a credential nothing was guessed')
  t.equal((await ask('/device/porch', own)).status, 200)
})

t.test(
  'a device is told what it has sent, as soon as that is stored, and the stream ends with the service',
  async t => {
    const followed = await fetch(`${service.url}/api/events?device=porch`, { headers: own })
    const reading = { device: 'porch', temperature: 21.5, humidity: 40, pressure: 1000, timestamp: Date.now() }
    t.equal((await service.put('porch', password, reading)).status, 200)
    t.equal((await service.put('attic', otherPassword, { ...reading, device: 'attic', temperature: 3 })).status, 200)
    let text = ''
    const pieces = followed.body?.values() as AsyncIterableIterator<Uint8Array>
    const ended = (async () => {
      for await (const piece of pieces) text += Buffer.from(piece).toString()
    })().catch(() => undefined)
    await until('it is told', () => text.includes('event: reading'))
    const { timestamp: ts, temperature, humidity, pressure } = reading
    t.match(text, `data: ${JSON.stringify({ device: 'porch', ts, values: { temperature, humidity, pressure } })}\n\n`)
    t.match(text, /^retry: 3000\n/)
    t.notMatch(text, /attic/)
    t.equal(await service.end('SIGTERM'), 0)
    await ended
  },
)
