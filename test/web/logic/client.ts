/** Reads of the service by the pages: addresses, meanings of responses, and the data that stays after a failure. */

import t from 'tap'
import { type Failure, type Outcome, readJson } from '../../../web/client/read-json.ts'
import { nextState, type ResourceState, retryDelayMs } from '../../../web/client/resource-state.ts'
import { devicePath, routeOf, stationPath } from '../../../web/client/routes.ts'

t.test('an address shows one page while the server answers all others', async t => {
  t.strictSame(routeOf('/'), { page: 'fleet' })
  t.strictSame(routeOf('/compare'), { page: 'compare' })
  t.strictSame(routeOf('/compare/'), { page: 'compare' })
  t.strictSame(routeOf('/admin'), { page: 'admin', rest: '' })
  t.strictSame(routeOf('/alerts/rules/12'), { page: 'alerts', rest: 'rules/12' })
  t.strictSame(routeOf('/admin/devices/porch'), { page: 'admin', rest: 'devices/porch' })
  t.strictSame(routeOf('/device/porch'), { page: 'device', name: 'porch' })
  t.strictSame(routeOf('/station/IN-1'), { page: 'station', sn: 'IN-1' })
  const others = [
    '/device',
    '/device/',
    '/device/a/b',
    '/station',
    '/station/a/b',
    '/account',
    '/compare/a',
    '/device/%ff',
  ]
  for (const path of others) {
    t.equal(routeOf(path), undefined, path)
  }
})

t.test('a name of any characters comes back from its address', async t => {
  for (const name of ['porch', 'Küche 2', '100%', 'a/b', '<script>', '?&#']) {
    t.strictSame(routeOf(devicePath(name)), { page: 'device', name })
    t.strictSame(routeOf(stationPath(name)), { page: 'station', sn: name })
  }
})

const answering = (status: number, body: unknown, headers = {}) => ({
  request: async () => new Response(body === undefined ? null : JSON.stringify(body), { status, headers }),
})
const failureOf = async (status: number, body: unknown, headers = {}) => {
  const outcome = await readJson('/x', answering(status, body, headers))
  return outcome.kind === 'failure' ? outcome.failure : undefined
}

t.test('a read distinguishes an answer, an unchanged one and each kind of failure', async t => {
  const answer = await readJson('/x', answering(200, { a: 1 }, { etag: '"t"' }))
  t.strictSame(answer, { kind: 'answer', value: { a: 1 }, etag: '"t"' })
  t.strictSame(await readJson('/x', answering(304, undefined)), { kind: 'unchanged' })
  const busy = await failureOf(503, { status: 'busy' }, { 'retry-after': '2' })
  t.strictSame(busy, { kind: 'unavailable', sentence: 'busy', retryAfterMs: 2000 })
  t.strictSame(await failureOf(503, 'x'), { kind: 'unavailable', sentence: 'status 503', retryAfterMs: undefined })
  t.strictSame(await failureOf(401, {}), { kind: 'signed-out' })
  t.strictSame(await failureOf(404, { status: 'device unknown' }), { kind: 'missing', sentence: 'device unknown' })
  t.strictSame(await failureOf(400, { detail: 'no' }), { kind: 'refused', status: 400, sentence: 'no' })
  t.strictSame(await failureOf(502, undefined), { kind: 'unreachable' })
  const away = { request: async () => Promise.reject(new TypeError('fetch failed')) }
  t.strictSame(await readJson('/x', away), { kind: 'failure', failure: { kind: 'unreachable' } })
})

t.test('a read sends the tag, has a time limit, and throws when its caller aborts', async t => {
  let sent: RequestInit | undefined
  const request = async (_url: string, init: RequestInit) => {
    sent = init
    return new Response(null, { status: 304 })
  }
  await readJson('/x', { etag: '"t"', request })
  t.match(sent, { cache: 'no-store', headers: { 'if-none-match': '"t"' } })
  const hanging = (_url: string, { signal }: RequestInit) =>
    new Promise<Response>((_resolve, reject) => {
      // The timer of a signal alone does not keep the test running.
      const timer = setTimeout(reject, 60_000)
      signal?.addEventListener('abort', () => {
        clearTimeout(timer)
        reject(signal.reason)
      })
    })
  t.match(await readJson('/x', { timeoutMs: 1, request: hanging }), { failure: { kind: 'unreachable' } })
  const leaving = new AbortController()
  const read = readJson('/x', { signal: leaving.signal, request: hanging })
  leaving.abort()
  await t.rejects(read)
})

const away: Failure = { kind: 'unreachable' }
const ready: ResourceState<number> = { kind: 'ready', value: 1, atMs: 10 }
const stale: ResourceState<number> = { ...ready, kind: 'stale', failure: away }

t.test('the last answer stays through failures, with its time', async t => {
  const next = (state: ResourceState<number>, outcome: Outcome<number>) => nextState(state, outcome, 20)
  const failing = (failure: Failure): Outcome<number> => ({ kind: 'failure', failure })
  t.strictSame(next({ kind: 'loading' }, failing(away)), { kind: 'failed', failure: away })
  t.strictSame(next(ready, failing(away)), stale)
  t.strictSame(next(stale, failing(away)), stale)
  t.strictSame(next(stale, { kind: 'unchanged' }), { kind: 'ready', value: 1, atMs: 20 })
  t.strictSame(next(stale, { kind: 'answer', value: 2, etag: undefined }), { kind: 'ready', value: 2, atMs: 20 })
  t.strictSame(next(ready, failing({ kind: 'signed-out' })), { kind: 'failed', failure: { kind: 'signed-out' } })
})

t.test("reads are retried at growing intervals, not before the service's Retry-After", async t => {
  t.strictSame(
    [1, 2, 3, 6, 7, 50].map(failures => retryDelayMs(away, failures)),
    [1_000, 2_000, 4_000, 30_000, 30_000, 30_000],
  )
  t.equal(retryDelayMs({ kind: 'unavailable', sentence: '', retryAfterMs: 5_000 }, 1), 5_000)
  t.equal(retryDelayMs({ kind: 'unavailable', sentence: '', retryAfterMs: undefined }, 1), 1_000)
  t.equal(retryDelayMs({ kind: 'signed-out' }, 1), undefined)
})
