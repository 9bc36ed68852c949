/** Changes stations, each in one transaction with an audit row. */

import { errorCode, isForeignKeyViolation, isUniqueViolation } from '../../store/postgres/postgres-errors.ts'
import type { Transaction } from '../../store/postgres/transaction.ts'
import { writeAudit } from '../audit.ts'
import { type NewStation, type Station, type StationChange, subjectOfStation } from './station.ts'
import { countStations, insertStation, markStationRemoved, updateStation } from './station-rows.ts'

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

export interface StationChangesOptions {
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
