/**
 * Reads the index of the listing from PostgreSQL, which packs the columns and sends them in slices. So hundreds of
 * thousands of files cost the main thread some milliseconds, and never in one piece.
 */

import type pg from 'pg'
import { inTransaction } from '../../store/postgres/transaction.ts'
import { moduleDigest } from './filters.ts'
import {
  type Coded,
  type FeatureSet,
  type Files,
  ListingIndex,
  type Places,
  placesOf,
  type Runs,
} from './listing-index.ts'

const filesPerSlice = 20_000
/** A slice takes some ten milliseconds. */
const sliceMsMax = 12_000
/** 16 bytes a file; one process should not hold a larger listing. */
const filesMax = 20_000_000

type Queryable = Pick<pg.Pool, 'query'>

/** Checks `isClosed` between slices. */
export function readIndex(pool: pg.Pool, isClosed: () => boolean): Promise<ListingIndex> {
  return inTransaction(pool, { stepMs: sliceMsMax, isSnapshot: true }, client => readParts(client, isClosed))
}

async function readParts(client: Queryable, isClosed: () => boolean): Promise<ListingIndex> {
  const version = await readVersion(client)
  const units = await client.query<Coded>('SELECT code, name FROM content_units ORDER BY code')
  const platforms = await client.query<Coded>('SELECT code, name FROM content_platforms ORDER BY code')
  const sets = await client.query<FeatureSet>(setsSql)
  const runs = await readRuns(client)
  const places = { runs: placesOf(runs.ids), sets: placesOf(sets.rows.map(set => set.id)) }
  const files = await readFiles(client, places, undefined, isClosed)
  return new ListingIndex({
    version,
    files,
    runs,
    sets: sets.rows,
    places,
    units: units.rows,
    platforms: platforms.rows,
  })
}

const versionSql = 'SELECT version::text FROM content_version'

export async function readVersion(client: Queryable): Promise<string> {
  const { rows } = await client.query<{ version: string }>(versionSql)
  return rows[0]?.version ?? ''
}

const setsSql = `SELECT id, ARRAY(
    SELECT type.name FROM content_feature_types type WHERE type.id = ANY (feature_type_ids)
    ORDER BY type.name COLLATE "C"
  )::text[] AS names
  FROM content_feature_sets`

const runsSql = `
  WITH units AS (SELECT code, (row_number() OVER (ORDER BY code) - 1)::int AS place FROM content_units),
    platforms AS (SELECT code, (row_number() OVER (ORDER BY code) - 1)::int AS place FROM content_platforms)
  SELECT string_agg(float8send(run.id::float8), '') AS ids,
    string_agg(float8send(resource.id::float8), '') AS resources,
    string_agg(int4send(units.place), '') AS units,
    string_agg(int4send(platforms.place), '') AS platforms
  FROM content_runs run JOIN content_resources resource ON resource.id = run.resource_id
    JOIN units ON units.code = resource.offered_by JOIN platforms ON platforms.code = resource.platform`

async function readRuns(client: Queryable): Promise<Runs> {
  const { rows } = await client.query<Packed<'ids' | 'resources' | 'units' | 'platforms'>>(runsSql)
  const [packed] = rows
  return {
    ids: unpackDoubles(packed?.ids),
    resourceIds: unpackDoubles(packed?.resources),
    units: unpackIntegers(packed?.units),
    platforms: unpackIntegers(packed?.platforms),
  }
}

/** A sorted subquery feeds the aggregates in its order if nothing is between them. */
const sliceSql = (condition: string) => `
  SELECT string_agg(float8send(id::float8), '') AS ids, string_agg(float8send(run_id::float8), '') AS runs,
    string_agg(int4send(feature_set_id), '') AS sets, min(created_on)::text AS oldest
  FROM (
    SELECT id, run_id, feature_set_id, created_on FROM content_files
    WHERE published AND (created_on, id) < ($1::timestamptz, $2::bigint) ${condition}
    ORDER BY created_on DESC, id DESC LIMIT ${filesPerSlice}
  ) slice`

type Slice = Packed<'ids' | 'runs' | 'sets'> & { oldest: string | null }

/** Reads the files that have one of the module ids. */
export function readFilesOf(pool: pg.Pool, places: Places, moduleIds: readonly string[]): Promise<Files> {
  return readFiles(pool, places, moduleIds, () => false)
}

async function readFiles(
  client: Queryable,
  places: Places,
  moduleIds: readonly string[] | undefined,
  isClosed: () => boolean,
): Promise<Files> {
  const sql = sliceSql(moduleIds === undefined ? '' : 'AND edx_module_digest = ANY ($3)')
  const slices: Files[] = []
  let before: [time: string, id: number] = ['infinity', Number.MAX_SAFE_INTEGER]
  for (let count = 0; count <= filesMax; ) {
    if (isClosed()) throw new Error('content-file index closed while reading')
    const values = moduleIds === undefined ? before : [...before, moduleIds.map(moduleDigest)]
    const { rows } = await client.query<Slice>(sql, values)
    const slice = unpackSlice(rows[0], places)
    const size = slice.ids.length
    slices.push(slice)
    count += size
    if (size < filesPerSlice) return join(slices, count)
    before = [rows[0]?.oldest ?? '', slice.ids[size - 1] ?? 0]
  }
  throw new Error(`more than ${filesMax} content files: divide them among several services`)
}

function unpackSlice(slice: Slice | undefined, places: Places): Files {
  const runs = unpackDoubles(slice?.runs)
  const sets = unpackIntegers(slice?.sets)
  return {
    ids: unpackDoubles(slice?.ids),
    runs: Int32Array.from(runs, id => places.runs.get(id) ?? -1),
    sets: sets.map(id => places.sets.get(id) ?? -1),
  }
}

function join(slices: readonly Files[], count: number): Files {
  const files = { ids: new Float64Array(count), runs: new Int32Array(count), sets: new Int32Array(count) }
  let at = 0
  for (const { ids, runs, sets } of slices) {
    files.ids.set(ids, at)
    files.runs.set(runs, at)
    files.sets.set(sets, at)
    at += ids.length
  }
  return files
}

type Packed<Name extends string> = Record<Name, Buffer | null>

function unpackDoubles(packed: Buffer | null | undefined): Float64Array {
  const column = new Float64Array((packed?.length ?? 0) / 8)
  const bytes = Buffer.from(column.buffer)
  packed?.copy(bytes)
  bytes.swap64()
  return column
}

function unpackIntegers(packed: Buffer | null | undefined): Int32Array {
  const column = new Int32Array((packed?.length ?? 0) / 4)
  const bytes = Buffer.from(column.buffer)
  packed?.copy(bytes)
  bytes.swap32()
  return column
}
