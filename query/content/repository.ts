/** Entry point for queries: a page of the content-file listing, or a single file. */

import type pg from 'pg'
import { fileText, moduleIdOf, readFiles } from './file-text.ts'
import { areAllKnown, type Filters, type UnknownCodes, unknownCodes } from './filters.ts'
import type { IndexHolder } from './index-holder.ts'
import { readFilesOf, readVersion } from './index-reader.ts'
import type { ListingIndex } from './listing-index.ts'
import { createRunCache, type RunCache } from './run-cache.ts'

/** Files as compact JSON texts. */
interface Page {
  count: number
  files: string[]
}

/** A page of the listing. The offset may exceed the count. */
interface Part {
  offset: number
  limit: number
}

export interface Repository {
  /** Filter codes that match no unit or platform. */
  unknownCodes(filters: Filters): Promise<UnknownCodes>
  list(filters: Filters, part: Part): Promise<Page>
  /** Undefined for an unknown file, and for one that does not match the filters. */
  file(filters: Filters, id: number): Promise<string | undefined>
}

interface Read<Answer> {
  /** Version of the data that was read; undefined when only the index was used. */
  version: string | undefined
  /** The index is too old for a correct answer. */
  isLacking: boolean
  answer: Answer
}

export function createRepository(pool: pg.Pool, indexHolder: IndexHolder): Repository {
  let runs: { index: ListingIndex; cache: RunCache } | undefined

  function runsOf(index: ListingIndex): RunCache {
    if (runs?.index !== index) runs = { index, cache: createRunCache(pool) }
    return runs.cache
  }

  /** Reads again when the index is older than the data. */
  async function settle<Answer>(read: (index: ListingIndex) => Promise<Read<Answer>>): Promise<Answer> {
    const index = await indexHolder.current()
    const first = await read(index)
    if (first.version === undefined) return first.answer
    const newer = await indexHolder.newer(index, first.version, first.isLacking)
    return newer === undefined ? first.answer : (await read(newer)).answer
  }

  async function checkCodes(filters: Filters, index: ListingIndex): Promise<Read<UnknownCodes>> {
    const answer = unknownCodes(filters, index.codes)
    // A code may be newer than the index; codes are never removed.
    const version = areAllKnown(answer) ? undefined : await readVersion(pool)
    return { version, isLacking: false, answer }
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

  async function readPage(filters: Filters, { offset, limit }: Part, index: ListingIndex): Promise<Read<Page>> {
    const matches = await index.match(filters, moduleIds => readFilesOf(pool, index.places, moduleIds))
    const { count } = matches
    const ids = offset < count ? matches.idsAt(offset, limit) : []
    const { version, isLacking, texts } = await readTexts(index, ids)
    return { version, isLacking, answer: { count, files: texts } }
  }

  async function readFile(filters: Filters, id: number, index: ListingIndex): Promise<Read<string | undefined>> {
    const { version, isLacking, files, texts } = await readTexts(index, [id])
    const [row] = files
    const isLet = row !== undefined && index.lets(filters, { ...row, moduleId: moduleIdOf(row) })
    return { version, isLacking, answer: isLet ? texts[0] : undefined }
  }

  return {
    unknownCodes: filters => settle(index => checkCodes(filters, index)),
    list: (filters, part) => settle(index => readPage(filters, part, index)),
    file: (filters, id) => settle(index => readFile(filters, id, index)),
  }
}
