/**
 * The hourly means of one metric of each device, for its sparkline and its trend. The metric is the first of
 * temperature, humidity and pressure with a value within a day.
 */

import { airMetrics } from '../answers/units.ts'
import { clearMeans, type LiveColumns, metricCount, noMetric, ringHours } from './columns.ts'
import { valueAgeUsMax } from './hours.ts'

/** A mean counts at most this many values of its hour. */
const countMax = 65_535

interface ReadingValues {
  readonly timeUs: number
  value(column: number): number
}

/** Counts a reading that is later than all before. True when another metric takes over, whose hours are unknown. */
export function countValue(columns: LiveColumns, slot: number, hour: number, reading: ReadingValues): boolean {
  let first = 0
  while (first < airMetrics.length && Number.isNaN(reading.value(first))) first++
  const before = columns.meanMetric[slot] as number
  const isOther =
    first < airMetrics.length && first !== before && (first < before || isPast(columns, slot, before, reading.timeUs))
  if (isOther) setMetric(columns, slot, first)
  const metric = isOther ? first : before
  if (metric === noMetric) return false
  const value = reading.value(metric)
  if (!Number.isNaN(value)) addValue(columns, slot, hour, value)
  return isOther && before !== noMetric
}

function isPast({ valuesUs }: LiveColumns, slot: number, metric: number, timeUs: number): boolean {
  return (valuesUs[slot * metricCount + metric] as number) <= timeUs - valueAgeUsMax
}

function addValue(columns: LiveColumns, slot: number, hour: number, value: number): void {
  const { meanHour, meanCounts, meanSums, means } = columns
  if (hour > (meanHour[slot] as number)) moveOn(columns, slot, hour)
  else if (hour < (meanHour[slot] as number)) return
  const at = slot * ringHours + (hour % ringHours)
  if ((meanCounts[at] as number) === countMax) return
  ;(meanCounts[at] as number)++
  ;(meanSums[slot] as number) += value
  means[at] = (meanSums[slot] as number) / (meanCounts[at] as number)
}

/** Chooses by the last known values. */
export function chooseMetric(columns: LiveColumns, slot: number): void {
  const lastUs = columns.lastUs[slot] as number
  const found = airMetrics.findIndex((_, metric) => !isPast(columns, slot, metric, lastUs))
  if (found >= 0 && found !== columns.meanMetric[slot]) setMetric(columns, slot, found)
}

function setMetric(columns: LiveColumns, slot: number, metric: number): void {
  clearMeans(columns, slot)
  columns.meanMetric[slot] = metric
}

export interface HourMean {
  readonly hour: number
  readonly count: number
  readonly mean: number
}

/** Merges QuestDB's mean of an hour, which may lack readings in transit. */
export function mergeMean(columns: LiveColumns, slot: number, { hour, count, mean }: HourMean): void {
  if (!(count > countOf(columns, slot, hour))) return
  if (hour > (columns.meanHour[slot] as number)) moveOn(columns, slot, hour)
  setMean(columns, slot, { hour, count, mean })
}

export function replaceMean(columns: LiveColumns, slot: number, { hour, count, mean }: HourMean): void {
  if (hour > (columns.meanHour[slot] as number)) mergeMean(columns, slot, { hour, count, mean })
  else setMean(columns, slot, { hour, count, mean })
}

function setMean({ meanHour, meanCounts, meanSums, means }: LiveColumns, slot: number, one: HourMean): void {
  const newest = meanHour[slot] as number
  if (one.hour <= newest - ringHours) return
  const at = slot * ringHours + (one.hour % ringHours)
  const count = Math.min(countMax, one.count)
  meanCounts[at] = count
  means[at] = one.mean
  if (one.hour === newest) meanSums[slot] = count === 0 ? 0 : count * one.mean
}

/** The hours in between have no values. */
function moveOn({ meanHour, meanCounts, meanSums }: LiveColumns, slot: number, hour: number): void {
  const before = Math.max(meanHour[slot] as number, hour - ringHours)
  for (let empty = before + 1; empty <= hour; empty++) meanCounts[slot * ringHours + (empty % ringHours)] = 0
  meanHour[slot] = hour
  meanSums[slot] = 0
}

function countOf({ meanHour, meanCounts }: LiveColumns, slot: number, hour: number): number {
  const newest = meanHour[slot] as number
  if (hour > newest || hour <= newest - ringHours) return 0
  return meanCounts[slot * ringHours + (hour % ringHours)] as number
}

/** NaN without a value in the hour, and for hours out of reach. */
export function meanOf(columns: LiveColumns, slot: number, hour: number): number {
  if (countOf(columns, slot, hour) === 0) return Number.NaN
  return columns.means[slot * ringHours + (hour % ringHours)] as number
}
