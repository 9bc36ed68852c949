/** The memory for finished answers, without a database. */

import { randomBytes } from 'node:crypto'
import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from 'node:zlib'
import t from 'tap'
import { type Body, bodyOf, type CacheEntry } from '../../query/cache/body.ts'
import { createBodyCache } from '../../query/cache/body-cache.ts'
import { encodeBody } from '../../query/cache/encode-body.ts'

/** Half of it can be compressed. */
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

t.test('a new form makes a body heavier, and others go for it', async t => {
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
