/**
 * Decides how a list of points is read: by QuestDB where its columns are stored ones, otherwise in the worker's memory.
 */

import type { Condition, SortColumn } from '../conditions/condition.ts'
import { meanColumns } from './point-columns.ts'
import { type PointFilter, pointFilter, pointOrder, timeRange } from './point-sql.ts'
import type { Station } from './station.ts'

export interface PointList {
  readonly station: Station
  readonly conditions: readonly Condition[]
  /** Ends with `id`. */
  readonly order: readonly SortColumn[]
  /** The most rows in total. */
  readonly limit: number
}

export interface Plan {
  readonly list: PointList
  readonly filter: PointFilter
  /** Undefined when it is filtered or sorted in memory. */
  readonly sql: string | undefined
  readonly time: 'asc' | 'desc' | undefined
  /** Set when the rows come in the order of their ids, or the reverse. */
  readonly byId: 'asc' | 'desc' | undefined
}

/** A list that QuestDB filters and sorts. */
export type StoredPlan = Plan & { readonly sql: string }

const meanRangeUsMax = 31 * 86_400_000_000

/** Undefined for a running mean without bounds of time. */
export function planOf(list: PointList): Plan | undefined {
  const { station, conditions, order } = list
  const filter = pointFilter(station, conditions)
  const { time, sql } = pointOrder(station, order)
  const isMean = ({ column }: { column: string }) => (meanColumns as readonly string[]).includes(column)
  if (conditions.some(isMean) || order.some(isMean)) {
    const { fromUs, toUs } = timeRange(conditions, ['timestamp'])
    // The end is not included.
    if (!(toUs - 1 - fromUs <= meanRangeUsMax)) return undefined
  }
  return {
    list,
    filter,
    sql: filter.others.length > 0 ? undefined : sql,
    time,
    byId: idDirection(order),
  }
}

function idDirection(order: readonly SortColumn[]): 'asc' | 'desc' | undefined {
  const end = order.findIndex(({ column }) => column === 'id')
  const varying = order.slice(0, end + 1).filter(({ column }) => column !== 'sn')
  const direction = varying.at(-1)?.direction
  const isOfTime = varying.every(({ column, direction: other }) => {
    return ['id', 'timestamp', 'timestamp_local'].includes(column) && other === direction
  })
  return isOfTime ? direction : undefined
}

export function isStored(plan: Plan): plan is StoredPlan {
  return plan.sql !== undefined
}
