/** Names and parameters of the queries that worker threads run: plain data that can be posted. */

import type { AnalysedDevice, Station } from './analysed-device.ts'
import type { ComputationName } from './analyses/analyses.ts'
import type { Asked, How } from './analyses/analysis.ts'
import type { FleetKnown } from './insights-fleet.ts'
import type { HourSources } from './questdb/hourly-sql.ts'
import type { UsRange } from './task-context.ts'

export interface LatestQuery {
  /** The fleet as `encodeFleet` wrote it. */
  readonly fleet: string
  /** The fleet is only some of the active devices, so that QuestDB should read only theirs. */
  readonly narrowed: boolean
  readonly nowUs: number
  readonly startUs: number
  readonly endUs: number
}

export interface DayQuery {
  readonly symbol: string
  readonly startUs: number
  readonly endUs: number
}

export interface StationUnitsQuery extends UsRange {
  readonly station: Station
}

export interface InsightsQuery {
  /** The fleet as `encodeInsightsFleet` wrote it. */
  readonly fleet: string
  readonly known: FleetKnown
  /** Only the rows of these devices are read. */
  readonly narrowed: boolean
  readonly nowUs: number
  readonly hourSources: HourSources
}

interface FleetCustomQuery extends UsRange {
  /** Undefined for all. */
  readonly series: readonly number[] | undefined
}

interface FleetHourQuery {
  readonly fromUs: number
  /** The hourly view of the current replica has the whole hour. The query may run on another replica. */
  readonly isInView: boolean
}

/** A device that is looked up by itself. */
type FleetDevice = Pick<AnalysedDevice, 'number' | 'symbol' | 'expected_interval_seconds'>

interface FleetDevicesQuery {
  readonly devices: readonly FleetDevice[]
  readonly nowUs: number
  readonly newestUs: number
  /** The most newest readings of each device to look at. */
  readonly timesMax: number
}

/** Parts of the initial state of the fleet. Each is returned as packed rows. */
export interface FleetQueries {
  readonly fleetLast: UsRange
  readonly fleetCustom: FleetCustomQuery
  readonly fleetHour: FleetHourQuery
  readonly fleetDevices: FleetDevicesQuery
}

export interface Queries extends Omit<FleetQueries, 'fleetHour' | 'fleetDevices'> {
  readonly fleetHour: FleetHourQuery & { readonly hourSources: HourSources }
  readonly fleetDevices: FleetDevicesQuery & { readonly hourSources: HourSources }
  readonly analysis: How & Asked & { readonly computation: ComputationName }
  readonly latest: LatestQuery
  readonly day: DayQuery
  readonly insights: InsightsQuery
  readonly stationUnits: StationUnitsQuery
}
