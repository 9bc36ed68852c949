/** `compare_data`: two devices side by side, hour by hour, with their difference and their agreement. */

import { z } from 'zod'
import type { LocalTime } from '../../analytics/time/local-time.ts'
import type { AnalysedDevice } from '../analysed-device.ts'
import { type CustomMetric, type CustomSamples, descriptionsOf } from '../custom-metric.ts'
import { type ComparedSamples, comparedText, pairTexts } from '../kinds/compared-metric.ts'
import { customSamplesByHour } from '../kinds/custom-samples.ts'
import { type AirMetric, airMetrics, type HourlySeries, mapColumns, units } from '../series.ts'
import type { Comparison } from '../shapes/compare.ts'
import type { TaskContext } from '../task-context.ts'
import type { Asked, AskedWindow, Computation, How } from './analysis.ts'
import { answerContext, memberTexts, objectText, type Texts } from './answer-text.ts'
import { type HoursGrid, hourMs, onGrid } from './gauge-hours.ts'
import { checkWindow, MetricNames, moment, parameter, published, withTimes } from './parameters.ts'

/** A metric with the places of its values in both devices. */
export interface ComparedCustom {
  readonly a: CustomMetric
  readonly b: CustomMetric
}

interface CompareHow extends How {
  readonly custom: readonly ComparedCustom[]
  /** Used unless there is a start. */
  readonly preset: ComparePreset
  readonly withTimes: boolean
}

interface CompareQuery extends CompareHow, Omit<Asked, 'device' | 'other' | 'clockMs'> {
  readonly a: AnalysedDevice
  readonly b: AnalysedDevice
}

/** It ends at the last reading, or at the hour when there is none. */
export const compareComputation: Computation<CompareHow> = {
  pools: ['light'],
  untilMs: hourMs,
  compute: ({ device: a, other: b = a, ...query }, context) => answerCompare({ a, b, ...query }, context),
}

/** Stations are not compared. */
type CompareContext = Omit<TaskContext, 'inUnits'>
type Which = 'a' | 'b'

export async function answerCompare(query: CompareQuery, context: CompareContext): Promise<string> {
  const { a, b, startMs, nowMs, newestUs, hourSources } = query
  const { source, local, signal } = context
  const isOne = a.symbol === b.symbol
  const lastReadingsMs: (number | undefined)[] = []
  const { expiredBeforeUs } = hourSources
  for (const which of isOne ? (['a'] as const) : (['a', 'b'] as const)) {
    const { symbol } = query[which]
    const lastUs =
      (await source.newestUs(symbol, newestUs, signal)) ??
      // The window ends at a full hour, so the expired hour is as exact as its reading was.
      (Number.isFinite(expiredBeforeUs) ? await source.newestExpiredHourUs(symbol, expiredBeforeUs, signal) : undefined)
    lastReadingsMs.push(lastUs === undefined ? undefined : lastUs / 1000)
  }
  const window = compareWindow(query, lastReadingsMs, nowMs)
  const range = { fromUs: window.startMs * 1000, toUs: window.endMs * 1000 }
  const readHours = (which: Which) => source.hourly({ symbol: query[which].symbol, ...range, ...hourSources }, signal)
  const hourlyOfA = await readHours('a')
  const hourlyOfB = isOne ? hourlyOfA : await readHours('b')
  const customOfA = await readCustom(query, 'a', window, hourlyOfA, context)
  const customOfB = await readCustom(query, 'b', window, hourlyOfB, context)
  return buildCompare({
    a: { device: a, hourly: hourlyOfA },
    b: { device: b, hourly: hourlyOfB },
    custom: customOfA.map((one, place) => ({ a: one, b: customOfB[place] as ComparedSamples })),
    preset: startMs === undefined ? query.preset : null,
    ...window,
    nowMs,
    local,
    withTimes: query.withTimes,
  })
}

/** Hours of gauges are read from QuestDB, hours of other kinds are computed from all values. */
async function readCustom(
  query: CompareQuery,
  which: Which,
  { startMs, endMs }: CompareWindow,
  hourly: HourlySeries,
  context: CompareContext,
): Promise<ComparedSamples[]> {
  const metrics = query.custom.map(metric => metric[which])
  const { expiredBeforeUs } = query.hourSources
  const [fromUs, toUs] = [startMs * 1000, endMs * 1000]
  const series = metrics.flatMap(({ kind, series }) => (kind === 'gauge' ? (series ?? []) : []))
  const hours = await context.measurements.hours({ series, fromUs, toUs, expiredBeforeUs }, context.signal)
  const range = { fromUs, throughUs: toUs, untilUs: query.newestUs, expiredBeforeUs }
  const others = metrics.filter(({ kind }) => kind !== 'gauge')
  const byName = new Map<string, CustomSamples>()
  for (const samples of await customSamplesByHour(others, range, context)) byName.set(samples.metric.name, samples)
  return metrics.map(metric => {
    const ofColumn =
      metric.column === undefined ? undefined : { startsMs: hourly.startsMs, ...hourly.metrics[metric.column] }
    return {
      device: query[which],
      samples: byName.get(metric.name) ?? noSamples(metric),
      hours: metric.series === undefined ? ofColumn : hours.get(metric.series),
    }
  })
}

function noSamples(metric: CustomMetric): CustomSamples {
  return { metric, timesMs: new Float64Array(0), values: new Float64Array(0), speeds: undefined }
}

type ComparePreset = NonNullable<Comparison['preset']>

const hoursOfPreset: Record<ComparePreset, number> = {
  '24h': 24,
  '3d': 72,
  '7d': 168,
  '30d': 720,
  '90d': 2160,
  '365d': 8760,
}

const presetOfAlias: Record<string, ComparePreset> = { '1d': '24h', '1w': '7d', '1m': '30d', '1y': '365d' }

/** An alias is accepted, and the answer names the preset that it stands for. */
export const comparePresets: readonly string[] = [...Object.keys(hoursOfPreset), ...Object.keys(presetOfAlias)]

/** Undefined for a text that is neither a preset nor an alias. */
export function comparePreset(text: string): ComparePreset | undefined {
  const name = presetOfAlias[text] ?? text
  return Object.hasOwn(hoursOfPreset, name) ? (name as ComparePreset) : undefined
}

const deviceName = z.string().min(1)
const presetInvalid = `preset must be one of ${comparePresets.join(', ')}`
const preset = parameter(presetInvalid)
  .transform((text, context) => {
    const known = comparePreset(text)
    if (known === undefined) context.addIssue(presetInvalid)
    return known ?? z.NEVER
  })
  .optional()
  .meta(published({ type: 'string', enum: comparePresets, description: 'Without it and start, 7d' }))

/** The devices are found by the operation's subject. */
export const CompareParameters = z
  .object({
    a: deviceName,
    b: deviceName,
    preset,
    start: moment('start', 'The first moment, down to the full hour; end goes with it, and preset does not'),
    end: moment('end', 'Before this moment, down to the full hour; without it, up to the last reading'),
    t: withTimes,
    metrics: MetricNames,
  })
  .superRefine(({ preset, start, end }, context) => {
    if (start !== undefined && preset !== undefined) context.addIssue('start and preset do not go together')
    checkWindow({ start, end }, context)
  })

/** Whole hours of UTC, `[startMs, endMs)`. */
interface CompareWindow {
  readonly startMs: number
  readonly endMs: number
}

/**
 * Ends at the last full hour before the later last reading of the two, or before now when neither has any, or as
 * requested.
 */
export function compareWindow(
  { preset, startMs, endMs: askedMs }: Pick<AskedWindow, 'startMs' | 'endMs'> & { preset: ComparePreset },
  lastReadingsMs: readonly (number | undefined)[],
  nowMs: number,
): CompareWindow {
  if (startMs !== undefined && askedMs !== undefined) {
    return { startMs: fullHour(startMs), endMs: fullHour(Math.min(askedMs, Math.max(startMs, nowMs))) }
  }
  const known = lastReadingsMs.filter(lastMs => lastMs !== undefined)
  const lastMs = known.length === 0 ? nowMs : Math.max(...known)
  const endMs = fullHour(lastMs)
  return { startMs: endMs - hoursOfPreset[preset] * hourMs, endMs }
}

function fullHour(timeMs: number): number {
  return Math.floor(timeMs / hourMs) * hourMs
}

interface ComparedDevice {
  readonly device: Pick<AnalysedDevice, 'name' | 'location_short'>
  /** Hours outside the window are left out. */
  readonly hourly: HourlySeries
}

export interface CompareInput extends CompareWindow {
  readonly a: ComparedDevice
  readonly b: ComparedDevice
  /** Metrics are in the answer's order. */
  readonly custom: readonly { readonly a: ComparedSamples; readonly b: ComparedSamples }[]
  /** Null for a window with a requested start. */
  readonly preset: ComparePreset | null
  readonly nowMs: number
  readonly local: LocalTime
  readonly withTimes: boolean
}

export function buildCompare(input: CompareInput): string {
  const { a, b, custom, preset, startMs, endMs, nowMs, local } = input
  const grid = { startMs, hours: (endMs - startMs) / hourMs }
  return objectText({
    ...memberTexts({
      a: { device: a.device.name, location_short: a.device.location_short },
      b: { device: b.device.name, location_short: b.device.location_short },
      ...answerContext(local, nowMs),
      preset,
      start: local.text(startMs * 1000),
      end: local.text(endMs * 1000),
      step_seconds: hourMs / 1000,
    } satisfies Omit<Comparison, AirMetric | 'metrics'>),
    ...mapColumns(airMetrics, metric => metricText(input, metric, grid)),
    ...Object.fromEntries(custom.map(one => [one.a.samples.metric.name, comparedText(one.a, one.b, grid, input)])),
    ...(custom.length === 0 ? {} : memberTexts({ metrics: descriptionsOf(custom.map(one => one.a.samples.metric)) })),
  })
}

function metricText({ a, b, local, withTimes }: CompareInput, metric: AirMetric, grid: HoursGrid): string {
  const [ofA, ofB] = [a, b].map(({ hourly }) => onGrid(grid, hourly.startsMs, hourly.metrics[metric].mean))
  const pair = pairTexts(ofA as Float64Array, ofB as Float64Array, grid, { local, withTimes })
  return objectText({ unit: JSON.stringify(units[metric]), ...pair } satisfies Texts<Comparison[AirMetric]>)
}
