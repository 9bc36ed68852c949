/** Reads the rows of stations and their series, and changes them, each in one transaction with an audit row. */

import { errorCode, isForeignKeyViolation, isUniqueViolation } from '../../store/postgres/postgres-errors.ts'
import type { Transaction } from '../../store/postgres/transaction.ts'
import { writeAudit } from '../audit.ts'
import { assignments, rowsAsJson } from '../columns.ts'
import {
  type NewStation,
  NewStationFields,
  type Parameter,
  parameters,
  type Station,
  type StationChange,
  subjectOfStation,
} from './station.ts'

export type StationRefusal = { ok: false; code: 'SN_TAKEN' | 'OWNER_UNKNOWN' | 'REGISTRY_FULL' | 'STATION_UNKNOWN' }
export type StationChanged<Value> = { ok: true; value: Value } | StationRefusal

export interface StationChanges {
  /** `by` is the principal for the audit. */
  add(station: NewStation, by: string): Promise<StationChanged<Station>>
  /** The id keeps a repeated call from changing a newer station with the same `sn`. */
  change(id: number, change: StationChange, by: string): Promise<StationChanged<Station>>
  /** Its points become unreachable, also for a new station with the same `sn`. `write` runs in the same transaction. */
  remove(
    station: Pick<Station, 'id' | 'sn'>,
    by: string,
    write?: (transaction: Transaction) => Promise<void>,
  ): Promise<StationChanged<undefined>>
}

interface StationChangesOptions {
  /** Commits and invalidates memory. */
  transact: <Result>(work: (transaction: Transaction) => Promise<Result>) => Promise<Result>
  nowMs: () => number
  stationsMax: number
}

const unknownStation = { ok: false, code: 'STATION_UNKNOWN' } as const
/** `sequence_generator_limit_exceeded`: no series number is left. */
const sequenceIsUsedUp = '2200H'

export function createStationChanges({ transact, nowMs, stationsMax }: StationChangesOptions): StationChanges {
  return {
    add(station, by) {
      const added = transact(async (transaction): Promise<StationChanged<Station>> => {
        if ((await countStations(transaction)) >= stationsMax) return { ok: false, code: 'REGISTRY_FULL' }
        const value = await insertStation(transaction, station, nowMs())
        const details = { ...station }
        const subject = subjectOfStation(station.sn)
        await writeAudit(transaction, { actor: by, action: 'station.add', subject, details })
        return { ok: true, value }
      })
      return added.catch(refusalOf)
    },

    change(id, change, by) {
      const changed = transact(async (transaction): Promise<StationChanged<Station>> => {
        const value = await updateStation(transaction, id, change, nowMs())
        if (value === undefined) return unknownStation
        const details = { ...change }
        const subject = subjectOfStation(value.sn)
        await writeAudit(transaction, { actor: by, action: 'station.change', subject, details })
        return { ok: true, value }
      })
      return changed.catch(refusalOf)
    },

    async remove({ id, sn }, by, write) {
      const removed = await transact(async transaction => {
        if (!(await markStationRemoved(transaction, id, nowMs()))) return false
        await writeAudit(transaction, { actor: by, action: 'station.remove', subject: subjectOfStation(sn) })
        await write?.(transaction)
        return true
      })
      if (!removed) return unknownStation
      return { ok: true, value: undefined }
    },
  }
}

function refusalOf(error: unknown): StationRefusal {
  if (isUniqueViolation(error, 'stations_sn')) return { ok: false, code: 'SN_TAKEN' }
  if (isForeignKeyViolation(error, 'stations_owner_fkey')) return { ok: false, code: 'OWNER_UNKNOWN' }
  if (errorCode(error) === sequenceIsUsedUp) return { ok: false, code: 'REGISTRY_FULL' }
  throw error
}

interface StationRow extends Pick<Station, 'id' | 'sn' | 'model' | 'city' | 'country' | 'location'> {
  latitude: number | null
  longitude: number | null
  outdoors: boolean | null
  timezone: string
  private: boolean
  owner: number | null
  created_at: Date
  updated_at: Date
  last_data_at: Date | null
  series: [parameter: Parameter, number: number][]
}

/** The fields of a station and their columns have the same names. */
const columns = [...Object.keys(NewStationFields.shape), 'owner']
const columnList = columns.join(', ')

const selection = `SELECT id, ${columnList}, created_at, updated_at, last_data_at,
    ARRAY(SELECT jsonb_build_array(parameter, number) FROM station_series WHERE station_id = stations.id) AS series
  FROM stations WHERE removed_at IS NULL`

/** Ordered by the code units of `sn`, for any collation of the database. */
export async function readStations(database: Transaction): Promise<Station[]> {
  const { rows } = await database.query<StationRow>(`${selection} ORDER BY sn COLLATE "C"`)
  return rows.map(stationOf)
}

async function readStation(transaction: Transaction, id: number): Promise<Station> {
  const { rows } = await transaction.query<StationRow>(`${selection} AND id = $1`, [id])
  const [row] = rows
  if (row === undefined) throw new Error('a station that was changed is there')
  return stationOf(row)
}

// An arbitrary fixed number: "barostat" in ASCII.
const stationsLock = '7089073111461814644'

/** Blocks additions by other nodes until the end of the transaction, so that the count stays valid. */
async function countStations(transaction: Transaction): Promise<number> {
  await transaction.query('SELECT pg_advisory_xact_lock($1::bigint)', [stationsLock])
  const text = 'SELECT count(*)::int AS count FROM stations WHERE removed_at IS NULL'
  const { rows } = await transaction.query<{ count: number }>(text)
  return rows[0]?.count ?? 0
}

/** All of its series get numbers now, so that writes of data change nothing here. */
async function insertStation(transaction: Transaction, station: NewStation, nowMs: number): Promise<Station> {
  const { rows } = await transaction.query<{ id: number }>(
    `INSERT INTO stations (${columnList}, created_at, updated_at)
     SELECT ${columnList}, at, at
     FROM jsonb_populate_recordset(NULL::stations, $1::jsonb), to_timestamp($2::float8 / 1000) AS at
     RETURNING id`,
    [rowsAsJson([{ ...station, timezone: station.timezone ?? 'UTC', private: station.private ?? false }]), nowMs],
  )
  const id = rows[0]?.id
  if (id === undefined) throw new Error('an insert gives a row')
  const text = 'INSERT INTO station_series (station_id, parameter) SELECT $1, unnest($2::text[])'
  await transaction.query(text, [id, [...parameters]])
  return await readStation(transaction, id)
}

/** Undefined for a removed station. */
async function updateStation(
  transaction: Transaction,
  id: number,
  change: StationChange,
  nowMs: number,
): Promise<Station | undefined> {
  const { set, values } = assignments(columns, change, 3)
  const { rowCount } = await transaction.query(
    `UPDATE stations SET ${[...set, 'updated_at = to_timestamp($2::float8 / 1000)'].join(', ')}
     WHERE id = $1 AND removed_at IS NULL`,
    [id, nowMs, ...values],
  )
  return rowCount === 0 ? undefined : await readStation(transaction, id)
}

/** False if it was removed already. */
async function markStationRemoved(transaction: Transaction, id: number, nowMs: number): Promise<boolean> {
  const text = `UPDATE stations SET removed_at = to_timestamp($2::float8 / 1000) WHERE id = $1 AND removed_at IS NULL`
  return (await transaction.query(text, [id, nowMs])).rowCount !== 0
}

/** Gives the stations of an account to the operator. */
export async function handStationsOver(transaction: Transaction, owner: number, by: string): Promise<void> {
  const text = `
    WITH changed AS (
      UPDATE stations SET owner = (SELECT id FROM accounts WHERE role = 'operator') WHERE owner = $1
      RETURNING sn, owner, removed_at
    )
    INSERT INTO audit (actor, action, subject, details)
    SELECT $2, 'station.change', 'station ' || sn, jsonb_build_object('owner', owner) FROM changed
    WHERE removed_at IS NULL`
  await transaction.query(text, [owner, by])
}

/** The record stays unchanged, so no audit row is written. True if one of the stations has its first data. */
export async function saveLastData(transaction: Transaction, ids: number[], timesMs: number[]): Promise<boolean> {
  const text = `WITH before AS MATERIALIZED (SELECT id, last_data_at FROM stations WHERE id = ANY($1::int[]) ORDER BY id FOR UPDATE)
    UPDATE stations SET last_data_at = greatest(stations.last_data_at, to_timestamp(seen.ms / 1000))
    FROM before JOIN unnest($1::int[], $2::float8[]) AS seen (id, ms) USING (id) WHERE stations.id = before.id
    RETURNING before.last_data_at IS NULL AS first`
  const { rows } = await transaction.query<{ first: boolean }>(text, [ids, timesMs])
  return rows.some(({ first }) => first)
}

function stationOf({ created_at, updated_at, last_data_at, series, ...rest }: StationRow): Station {
  return {
    ...rest,
    createdMs: created_at.getTime(),
    updatedMs: updated_at.getTime(),
    savedLastDataMs: last_data_at === null ? null : last_data_at.getTime(),
    series: new Map(series),
  }
}
