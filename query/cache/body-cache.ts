/** Encoded answers, up to a number of bytes. The least recently used one is evicted first. */

import { promisify } from 'node:util'
import { brotliCompress, constants, zstdCompress } from 'node:zlib'
import { LRUCache } from 'lru-cache'
import type { Body, CacheEntry, Coding } from './body.ts'

export interface BodyCache {
  get(key: string): CacheEntry | undefined
  set(key: string, entry: CacheEntry): void
  /** A compressed form of a body, made on first use; undefined while too many are being made. */
  coded(body: Body, coding: Coding): Buffer | Promise<Buffer> | undefined
  /** Counts a query as a cache hit or a miss. */
  count(isHit: boolean): void
  status(): CacheStatus
}

export interface CacheStatus {
  hits: number
  misses: number
  bytes: number
}

/** Each compression takes one of libuv's four threads, which others need too. */
const compressionsMax = 2
/** Estimated size of an entry beside its bytes. */
const entryBytes = 1024

const compressBrotli = promisify(brotliCompress)
const compressZstd = promisify(zstdCompress)

export function createBodyCache(bytesMax: number): BodyCache {
  const entries = new LRUCache<string, CacheEntry>({ maxSize: bytesMax, sizeCalculation: sizeOf })
  const keys = new WeakMap<Body, string>()
  let compressions = 0
  let hits = 0
  let misses = 0

  function set(key: string, entry: CacheEntry): void {
    entries.set(key, entry)
    if (typeof entry.body === 'object' && 'bytes' in entry.body) keys.set(entry.body, key)
  }

  function coded(body: Body, coding: Coding): Buffer | Promise<Buffer> | undefined {
    const known = body.coded.get(coding)
    if (known !== undefined || compressions >= compressionsMax) return known
    const making = make(body, coding)
    body.coded.set(coding, making)
    return making
  }

  async function make(body: Body, coding: Coding): Promise<Buffer> {
    compressions++
    try {
      const bytes = await compress(body.bytes, coding)
      body.coded.set(coding, bytes)
      return bytes
    } catch (error) {
      body.coded.delete(coding)
      throw error
    } finally {
      compressions--
      measureAgain(body)
    }
  }

  /** The entry has grown, so others may have to be evicted. */
  function measureAgain(body: Body): void {
    const key = keys.get(body)
    const entry = key === undefined ? undefined : entries.peek(key)
    if (key !== undefined && entry?.body === body) entries.set(key, { ...entry })
  }

  return {
    get: key => entries.get(key),
    set,
    coded,
    count(isHit) {
      if (isHit) hits++
      else misses++
    },
    status: () => ({ hits, misses, bytes: entries.calculatedSize }),
  }
}

function compress(bytes: Buffer, coding: Coding): Promise<Buffer> {
  if (coding === 'zstd') return compressZstd(bytes)
  // For 16 MB of points, quality 4 leaves 2.5 MB in 0.2 s, about as small as gzip. The default of 11 takes a minute.
  const params = { [constants.BROTLI_PARAM_QUALITY]: 4, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length }
  return compressBrotli(bytes, { params })
}

function sizeOf({ body }: CacheEntry, key: string): number {
  let bytes = entryBytes + key.length
  if (body === 'TOO_LARGE') return bytes
  if ('at' in body) return bytes + body.bytesMax
  bytes += body.bytes.length
  for (const form of body.coded.values()) bytes += form instanceof Promise ? 0 : form.length
  return bytes
}
