/**
 * The index of the listing, kept in step with PostgreSQL. Every page is read together with the version of the data.
 * When the index has another version, it is rebuilt and the page is read again.
 */

import type pg from 'pg'
import type { Log } from '../../store/log.ts'
import { readIndex } from './index-reader.ts'
import type { ListingIndex } from './listing-index.ts'

export interface IndexHolder {
  /** Makes the first index, so that the first request need not wait for it. */
  prepare(): void
  current(): Promise<ListingIndex>
  /**
   * The index for a second read of a page that was read from `index` at data `version`; undefined when the page may be
   * shown. An incomplete page may not be shown while there is a newer version.
   */
  newer(index: ListingIndex, version: string, isLacking: boolean): Promise<ListingIndex> | undefined
  close(): Promise<void>
}

export interface IndexHolderOptions {
  pool: pg.Pool
  /** A monotonic clock. */
  nowMs: () => number
  log: Log
  /** Up to this many files, an index is built within milliseconds, so a request waits for it. */
  waitedForFilesMax?: number
  /** With more files, the oldest index that requests may use while another one is built. */
  staleMsMax?: number
}

/** While data change all the time, at most a fifth of the time is spent on building. */
const restsPerBuild = 4

export function createIndexHolder(options: IndexHolderOptions): IndexHolder {
  const { pool, nowMs, log, waitedForFilesMax = 20_000, staleMsMax = 10_000 } = options
  let newest: ListingIndex | undefined
  let building: Promise<ListingIndex> | undefined
  /** Time at which the newest index was last known to be current. */
  let heldMs = 0
  let restUntilMs = 0
  let isClosed = false

  async function build(): Promise<ListingIndex> {
    const startedMs = nowMs()
    const index = await readIndex(pool, () => isClosed)
    newest = index
    heldMs = startedMs
    restUntilMs = nowMs() + restsPerBuild * (nowMs() - startedMs)
    return index
  }

  function rebuild(): Promise<ListingIndex> {
    building ??= build().finally(() => {
      building = undefined
    })
    return building
  }

  /** A running build may have begun before this version existed. The next one has not. */
  async function atLeast(version: string): Promise<ListingIndex> {
    const index = await rebuild()
    return index.version === version ? index : await rebuild()
  }

  function prepare(): void {
    // Closing meanwhile is not a fault.
    rebuild().catch((error: unknown) => {
      if (!isClosed) log.warn({ err: error }, 'could not build the content-file index')
    })
  }

  function rebuildBehind(): void {
    if (building === undefined && nowMs() >= restUntilMs) prepare()
  }

  function newer(index: ListingIndex, version: string, isLacking: boolean): Promise<ListingIndex> | undefined {
    if (index.version === version) {
      if (index === newest) heldMs = nowMs()
      return undefined
    }
    if (newest !== undefined && newest.version === version) return Promise.resolve(newest)
    const isWaitedFor = isLacking || index.size <= waitedForFilesMax || nowMs() - heldMs > staleMsMax
    if (isWaitedFor) return atLeast(version)
    rebuildBehind()
    return undefined
  }

  return {
    prepare,
    current: async () => newest ?? (await rebuild()),
    newer,
    close: async () => {
      isClosed = true
      await building?.catch(() => undefined)
    },
  }
}
