/** Serving of cached answers, with a made clock and builds that the test ends. */

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from 'node:zlib'
import fc from 'fast-check'
import t from 'tap'
import { type Answer, type Body, bodyOf, type CacheEntry, encodeBody } from '../../query/cache/body.ts'
import { createBodyCache } from '../../query/cache/body-cache.ts'
import { type Built, type CachedQuery, createResponseCache } from '../../query/cache/response-cache.ts'

const minute = 60_000
const freshMs = 90_000
const staleMs = 5 * minute
const retryMs = 2000

interface Build {
  readonly key: string
  readonly version: string | undefined
  readonly askedAtMs: number
  readonly signal: AbortSignal
  /** Resolves the build with a body of its own, or with a failure. */
  end(code?: Extract<Built, { ok: false }>['code']): Promise<void>
  readonly body: Body
}

function world() {
  const errors: string[] = []
  const log = { error: ({ err, key }: { err: unknown; key: string }) => void errors.push(`${err} of ${key}`) }
  const builds: Build[] = []
  const clock = { nowMs: 1_700_000_000_000 }
  const cache = createBodyCache(1_000_000)
  const hits: boolean[] = []
  const counted = { get: cache.get, set: cache.set, count: (isHit: boolean) => void hits.push(isHit) }
  const serve = createResponseCache({ cache: counted, now: () => clock.nowMs, limits: { retryMs }, log })

  function ask(version: string | undefined, more: Partial<CachedQuery> = {}): Answer | Promise<Answer> {
    const query: CachedQuery = {
      key: 'a',
      version,
      freshMs,
      staleMs,
      maxAgeSeconds: () => 5,
      build: (askedAtMs, signal) => build({ key: more.key ?? 'a', version, askedAtMs, signal }),
      ...more,
    }
    return serve(query)
  }

  function build(about: Pick<Build, 'key' | 'version' | 'askedAtMs' | 'signal'>): Promise<Built> {
    return new Promise(resolve => {
      const body = bodyOf(encodeBody(new TextEncoder().encode(`${builds.length}`)))
      const end: Build['end'] = code => {
        resolve(code === undefined ? { ok: true, body } : { ok: false, code })
        return settled()
      }
      about.signal.addEventListener('abort', () => void end('CANCELLED'))
      builds.push({ ...about, body, end })
    })
  }

  return { ask, builds, clock, errors, hits, last: () => builds.at(-1) as Build }
}

function settled(): Promise<void> {
  return new Promise(resolve => setImmediate(resolve))
}

async function primed() {
  const made = world()
  const first = made.ask('1')
  await made.last().end()
  return { ...made, first: made.last().body, answer: await first }
}

const served = (body: Body, maxAgeSeconds: number) => ({ ok: true, body, maxAgeSeconds })

t.test('responses by their changes and age', async t => {
  const cases: [string, string | undefined, number, 'served' | 'served, refreshed' | 'built'][] = [
    ['without a version nothing is right', undefined, freshMs, 'served, refreshed'],
    ['but fresh', undefined, freshMs - 1, 'served'],
    ['the same version is right', '1', 0, 'served'],
    ['however old it is', '1', 400 * 24 * 60 * minute, 'served'],
    ['a new version waits for the age', '2', 0, 'served'],
    ['until it is reached', '2', freshMs - 1, 'served'],
    ['then one refresh runs behind', '2', freshMs, 'served, refreshed'],
    ['as long as it is not too old', '2', staleMs - 1, 'served, refreshed'],
    ['an answer that is too old is waited for', '2', staleMs, 'built'],
    ['so is one of the future', '2', -1, 'built'],
  ]
  for (const [name, version, ageMs, expected] of cases) {
    const { ask, builds, clock, hits, first } = await primed()
    clock.nowMs += ageMs
    const answer = ask(version)
    if (expected === 'served') t.strictSame(answer, served(first, 5), name)
    if (expected === 'served, refreshed') t.strictSame(answer, served(first, 0), name)
    if (expected === 'built') t.type(answer, Promise, name)
    t.equal(builds.length, expected === 'served' ? 1 : 2, name)
    t.strictSame(hits, [false, expected !== 'built'], name)
  }
})

t.test('an answer without a version is not the same version as another one', async t => {
  const { ask, builds, clock, last } = world()
  const answer = ask(undefined)
  await last().end()
  await answer
  clock.nowMs += staleMs
  t.type(ask(undefined), Promise)
  t.equal(builds.length, 2)
})

t.test('an answer is as old as its question', async t => {
  const { ask, clock, last } = world()
  const answer = ask('1', { maxAgeSeconds: ageMs => 60 - ageMs / 1000 })
  clock.nowMs += 20_000
  await last().end()
  t.strictSame(await answer, served(last().body, 40))
})

t.test('one of many concurrent requests starts the refresh for the next one', async t => {
  const { ask, builds, clock, first, last } = await primed()
  clock.nowMs += freshMs
  for (const version of ['2', '2', '3', '4']) t.strictSame(ask(version), served(first, 0))
  t.equal(builds.length, 2)
  await last().end()
  t.strictSame(ask('2'), served(last().body, 5))
  clock.nowMs += freshMs
  ask('3')
  t.equal(builds.length, 3, 'and the next one may be refreshed again')
})

t.test('requests share a build by version', async t => {
  const { ask, builds } = world()
  const waiting = [ask('1'), ask('1'), ask('2'), ask('1', { key: 'b' })]
  t.equal(builds.map(build => `${build.key}${build.version}`).join(), 'a1,a2,b1')
  for (const build of builds) await build.end()
  const [a1, a2, b1] = builds.map(build => served(build.body, 5))
  t.strictSame(await Promise.all(waiting), [a1, a1, a2, b1])
})

t.test('a slow answer does not take the place of one that was asked for later', async t => {
  const { ask, builds, clock } = world()
  const first = ask('1')
  clock.nowMs += 1000
  const second = ask('2')
  const [slow, quick] = builds as [Build, Build]
  await quick.end()
  await slow.end()
  t.strictSame(await Promise.all([first, second]), [served(slow.body, 5), served(quick.body, 5)])
  t.strictSame(ask('2'), served(quick.body, 5))
})

t.test('the answer to the latest question stays, also where the clock was set back', async t => {
  const { ask, builds, clock, last } = world()
  const waiting = [ask('1')]
  clock.nowMs += 1000
  waiting.push(ask('2'))
  for (const build of [...builds]) await build.end()
  t.strictSame(await ask('2'), served(last().body, 5))
  clock.nowMs -= minute
  waiting.push(ask('3'))
  await last().end()
  t.strictSame(await ask('3'), served(last().body, 5))
  await Promise.all(waiting)
})

t.test('a build that failed serves the cached answer, and is not tried again for a while', async t => {
  for (const ageMs of [freshMs, staleMs, 100 * minute]) {
    const { ask, builds, clock, first, last } = await primed()
    clock.nowMs += ageMs
    const answer = ask('2')
    await last().end('DATABASE_AWAY')
    t.strictSame(await answer, served(first, 0))
    t.strictSame(ask('2'), served(first, 0))
    clock.nowMs += retryMs - 1
    t.strictSame(ask('2'), served(first, 0))
    t.equal(builds.length, 2)
    clock.nowMs += 1
    ask('2')
    t.equal(builds.length, 3)
  }
})

t.test('a pause ends when the clock is set back', async t => {
  const { ask, builds, clock, last } = await primed()
  clock.nowMs += staleMs
  const answer = ask('2')
  await last().end('DATABASE_AWAY')
  await answer
  clock.nowMs -= minute
  ask('2')
  t.equal(builds.length, 3)
})

t.test('a build that failed with nothing in the cache says why', async t => {
  const { ask, builds, last } = world()
  for (const code of ['DATABASE_AWAY', 'TIMED_OUT', 'QUEUE_FULL', 'CLOSING'] as const) {
    const answer = ask('1')
    await last().end(code)
    t.strictSame(await answer, { ok: false, code })
  }
  t.equal(builds.length, 4)
})

t.test('an internal error in a build without waiting requests is logged', async t => {
  const { ask, clock, errors, first } = await primed()
  clock.nowMs += freshMs
  const build = () => Promise.reject(new Error('ours'))
  t.strictSame(ask('2', { build }), served(first, 0))
  await settled()
  t.strictSame(errors, ['Error: ours of a'])
})

t.test('a build ends when its last client has left, without a pause', async t => {
  const { ask, builds, clock, first, last } = await primed()
  clock.nowMs += staleMs
  const [one, two] = [new AbortController(), new AbortController()]
  const waiting = [ask('2', { client: one.signal }), ask('2', { client: two.signal })]
  one.abort()
  t.notOk(last().signal.aborted)
  two.abort()
  t.ok(last().signal.aborted)
  const late = ask('2')
  t.equal(builds.length, 3, 'another one needs another build')
  await settled()
  const same = ask('2')
  t.type(same, Promise, 'without a pause')
  t.equal(builds.length, 3, 'the end of the first build leaves the second one')
  await last().end()
  t.strictSame(await Promise.all([late, same]), [served(last().body, 5), served(last().body, 5)])
  t.strictSame(await Promise.all(waiting), [served(first, 0), served(first, 0)])
  ask('3', { key: 'b', client: AbortSignal.abort() })
  t.ok(last().signal.aborted, 'its client had left before')
})

t.test('a refresh goes on when its client leaves', async t => {
  const { ask, clock, last } = await primed()
  clock.nowMs += freshMs
  const client = new AbortController()
  ask('2', { client: client.signal })
  client.abort()
  t.notOk(last().signal.aborted)
  clock.nowMs += staleMs
  const waiting = ask('2')
  await last().end()
  t.strictSame(await waiting, served(last().body, 5), 'and who has to wait waits for it')
})

/** A history of one response, which checks every served answer against the rule. */
function history() {
  const { ask, builds, clock, errors } = world()
  const clients: AbortController[] = []
  const ended = new Set<Build>()
  let version = 0
  let failedAtMs = Number.NEGATIVE_INFINITY
  const open = () => builds.filter(build => !ended.has(build) && !build.signal.aborted)

  function check(answer: Answer, versionAsked: number, client: AbortSignal): void {
    // An aborted client does not read its response.
    if (!answer.ok || client.aborted) return
    const made = builds.find(build => build.body === answer.body) as Build
    if (Number(made.version) >= versionAsked) return
    const ageMs = clock.nowMs - made.askedAtMs
    if (answer.maxAgeSeconds > 0) assert(ageMs < freshMs, 'what may be used again is right or fresh')
    else assert(ageMs < staleMs || clock.nowMs - failedAtMs < retryMs, 'what is old is served after a failure only')
  }

  const actions = {
    ask() {
      const versionAsked = version
      const client = new AbortController()
      clients.push(client)
      const answer = ask(String(version), { client: client.signal })
      if (answer instanceof Promise)
        answer.then(served => check(served, versionAsked, client.signal)).catch(e => errors.push(String(e)))
      else check(answer, versionAsked, client.signal)
    },
    pass(ms: number) {
      clock.nowMs += ms
    },
    change() {
      version++
    },
    leave(index: number) {
      clients[index % clients.length]?.abort()
    },
    async end(index: number) {
      const build = open()[index % open().length]
      if (build !== undefined) ended.add(build)
      await build?.end()
    },
    async fail(index: number) {
      const build = open()[index % open().length]
      if (build !== undefined) ended.add(build)
      failedAtMs = clock.nowMs
      await build?.end('TIMED_OUT')
    },
  }

  return { actions, open, errors }
}

t.test('any order of events serves a current, a young, or the only available answer', async () => {
  const kinds = ['ask', 'ask', 'ask', 'pass', 'pass', 'change', 'change', 'leave', 'end', 'end', 'fail'] as const
  const step = fc.tuple(fc.constantFrom(...kinds), fc.nat(400_000))
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60 }), async steps => {
      const { actions, open, errors } = history()
      for (const [kind, number] of steps) {
        await actions[kind](number)
        await settled()
        const versions = open().map(build => build.version)
        assert.equal(new Set(versions).size, versions.length, 'no version is built twice at a time')
      }
      assert.deepEqual(errors, [])
    }),
    { numRuns: 500 },
  )
})

function makeBody(bytes: number): Body {
  return bodyOf(encodeBody(new Uint8Array(Buffer.concat([randomBytes(bytes / 2), Buffer.alloc(bytes / 2, 'x')]))))
}

function entryOf(body: Body): CacheEntry {
  return { body, askedAtMs: 0, version: undefined }
}

t.test('a compressed form is made once for all who want it', async t => {
  const cache = createBodyCache(1_000_000)
  const body = makeBody(100_000)
  cache.set('a', entryOf(body))
  const gzip = cache.coded(body, 'gzip')
  if (!(gzip instanceof Buffer)) throw new Error('gzip comes with the body')
  const making = cache.coded(body, 'br')
  t.type(making, Promise)
  t.equal(cache.coded(body, 'br'), making)
  const brotli = await making
  const zstd = await cache.coded(body, 'zstd')
  t.equal(cache.coded(body, 'br'), brotli)
  t.same(gunzipSync(gzip), body.bytes)
  t.same(brotliDecompressSync(brotli ?? ''), body.bytes)
  t.same(zstdDecompressSync(zstd ?? ''), body.bytes)
})

t.test('at most two forms are being made at a time', async t => {
  const cache = createBodyCache(1_000_000)
  const [one, two] = [makeBody(10_000), makeBody(10_000)]
  const making = [cache.coded(one, 'br'), cache.coded(one, 'zstd')]
  t.equal(cache.coded(two, 'br'), undefined)
  t.type(cache.coded(two, 'gzip'), Buffer, 'what is ready is served')
  await Promise.all(making)
  t.type(await cache.coded(two, 'br'), Buffer)
})

t.test('a new encoding makes a body larger, so that others are evicted', async t => {
  // Plain 100 kB and gzip 50 kB each: three fit, and no more than one further form of 50 kB.
  const cache = createBodyCache(520_000)
  const bodies = [makeBody(100_000), makeBody(100_000), makeBody(100_000)]
  for (const [index, body] of bodies.entries()) cache.set(String(index), entryOf(body))
  const last = bodies[2]
  if (last === undefined) throw new Error('three were made')
  const cached = () => ['0', '1', '2'].map(key => cache.get(key)?.body === bodies[Number(key)])
  t.strictSame(cached(), [true, true, true])
  await cache.coded(last, 'br')
  t.strictSame(cached(), [true, true, true])
  await cache.coded(last, 'zstd')
  t.strictSame(cached(), [false, true, true])
})

t.test('a form of a body that was evicted does not bring it back', async t => {
  const cache = createBodyCache(1_000_000)
  const [old, next] = [makeBody(10_000), makeBody(10_000)]
  cache.set('a', entryOf(old))
  const making = cache.coded(old, 'br')
  cache.set('a', entryOf(next))
  await making
  t.equal(cache.get('a')?.body, next)
})

t.test('a short body has no compressed form', async t => {
  t.equal(makeBody(1022).coded.size, 0)
  t.equal(makeBody(1024).coded.size, 1)
})

t.test('the body that was asked for last stays', t => {
  const cache = createBodyCache(340_000)
  const [one, two, three] = [makeBody(100_000), makeBody(100_000), makeBody(100_000)]
  cache.set('1', entryOf(one))
  cache.set('2', entryOf(two))
  t.equal(cache.get('1')?.body, one)
  cache.set('3', entryOf(three))
  t.ok(cache.get('1') && !cache.get('2') && cache.get('3'))
  t.end()
})
