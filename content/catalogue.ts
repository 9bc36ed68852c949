/** Answers what is asked of the content files: a part of the list, or one of them. */

import type pg from 'pg'
import { type FilterErrors, readFilters } from '../api/content-files/filters.ts'
import { type Paging, readPaging } from '../api/content-files/paging.ts'
import type { Query } from '../api/content-files/query-string.ts'
import { readFiles } from './file-reader.ts'
import { fileText, moduleIdOf } from './file-text.ts'
import { readFilesOf, readVersion } from './index-reader.ts'
import type { Listing } from './listing.ts'
import type { ListingIndex } from './listing-index.ts'
import { createRunCache, type RunCache } from './run-cache.ts'

type Invalid = { ok: false; code: 'FILTERS_INVALID'; errors: FilterErrors }
/** Files are compact JSON. */
type Page = { ok: true; paging: Paging; count: number; files: string[] }
type OneFile = { ok: true; file: string } | { ok: false; code: 'FILE_UNKNOWN' | 'ID_INVALID' }

export interface Catalogue {
  list(query: Query): Promise<Page | Invalid>
  /** The id as it stands in the path. */
  file(query: Query, id: string): Promise<OneFile | Invalid>
}

interface Read<Answer> {
  /** Of the data that it was read from. */
  version: string
  /** The index is too old to tell the answer as it should be. */
  isLacking: boolean
  answer: Answer
}

export function createCatalogue(pool: pg.Pool, listing: Listing): Catalogue {
  let runs: { index: ListingIndex; cache: RunCache } | undefined

  function runsOf(index: ListingIndex): RunCache {
    if (runs?.index !== index) runs = { index, cache: createRunCache(pool) }
    return runs.cache
  }

  /** Reads once more when the index turns out to be of an older version than the data. */
  async function settle<Answer>(read: (index: ListingIndex) => Promise<Read<Answer>>): Promise<Answer> {
    const index = await listing.current()
    const first = await read(index)
    const newer = await listing.newer(index, first.version, first.isLacking)
    return newer === undefined ? first.answer : (await read(newer)).answer
  }

  async function invalid(errors: FilterErrors): Promise<Read<Invalid>> {
    // A code may be newer than the index.
    return {
      version: await readVersion(pool),
      isLacking: false,
      answer: { ok: false, code: 'FILTERS_INVALID', errors },
    }
  }

  async function readTexts(index: ListingIndex, ids: readonly number[]) {
    const { version, files } = await readFiles(pool, ids)
    const known = await runsOf(index).get(files.map(file => file.runId))
    const texts = files.flatMap(file => {
      const run = known.get(file.runId)
      return run === undefined ? [] : [fileText(file, run, index.featureTypesOf(file.setId))]
    })
    const isLacking = !files.every(file => index.knows(file))
    return { version, isLacking, files, texts }
  }

  async function readPage(query: Query, index: ListingIndex): Promise<Read<Page | Invalid>> {
    const asked = readFilters(query, index.codes)
    if (!asked.ok) return await invalid(asked.errors)
    const matches = await index.match(asked.filters, moduleIds => readFilesOf(pool, index.places, moduleIds))
    const paging = readPaging(query)
    const { count } = matches
    const ids = paging.offset < count ? matches.idsAt(Number(paging.offset), paging.limit) : []
    const { version, isLacking, texts } = await readTexts(index, ids)
    return { version, isLacking, answer: { ok: true, paging, count, files: texts } }
  }

  async function readFile(query: Query, text: string, index: ListingIndex): Promise<Read<OneFile | Invalid>> {
    const asked = readFilters(query, index.codes)
    if (!asked.ok) return await invalid(asked.errors)
    const id = readId(text)
    if (id === 'invalid') {
      return { version: index.version, isLacking: false, answer: { ok: false, code: 'ID_INVALID' } }
    }
    const { version, isLacking, files, texts } = await readTexts(index, id === undefined ? [] : [id])
    const [row] = files
    const [file] = texts
    if (row === undefined || file === undefined || !index.lets(asked.filters, { ...row, moduleId: moduleIdOf(row) })) {
      return { version, isLacking, answer: { ok: false, code: 'FILE_UNKNOWN' } }
    }
    return { version, isLacking, answer: { ok: true, file } }
  }

  return {
    list: query => settle(index => readPage(query, index)),
    file: (query, id) => settle(index => readFile(query, id, index)),
  }
}

/** Digits of any number, of which none but those of a safe integer can be the id of a file. */
function readId(text: string): number | undefined | 'invalid' {
  if (!/^-?\d+$/.test(text)) return 'invalid'
  const id = Number(text)
  return Number.isSafeInteger(id) ? id : undefined
}
