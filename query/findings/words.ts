/** The texts of findings as the service writes them: in stored units, and in its time zone. */

import type { FindingWords } from '../../analytics/findings/finding-text.ts'
import type { LocalTime } from '../../analytics/time/local-time.ts'
import { type Metric, metrics } from '../../store/tables.ts'
import { units } from '../answers/units.ts'
import type { MetricDescription } from '../shapes/kinds.ts'

type Described = Pick<MetricDescription, 'title' | 'unit' | 'decimals'>

/** Descriptions in the catalogue of metrics. */
const builtInDescriptions: Readonly<Record<Metric, Described>> = {
  temperature: { title: 'Temperature', unit: units.temperature, decimals: 1 },
  humidity: { title: 'Humidity', unit: units.humidity, decimals: 0 },
  pressure: { title: 'Pressure', unit: units.pressure, decimals: 1 },
  battery_voltage: { title: 'Battery voltage', unit: units.battery_voltage, decimals: 2 },
  battery_percentage: { title: 'Battery charge', unit: units.battery_percentage, decimals: 0 },
}

const months = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ')

/** `custom` has the metrics beside the five. */
export function serviceWords(
  local: Pick<LocalTime, 'text'>,
  custom: readonly (Described & { readonly name: string })[],
): FindingWords {
  const described = new Map<string, Described>(metrics.map(name => [name, builtInDescriptions[name]]))
  for (const { name, ...one } of custom) described.set(name, one)
  const of = (metric: string) => described.get(metric) ?? { title: metric, unit: null, decimals: 2 }
  const measure = (value: number, metric: string, extraDecimals = 0) => withUnit(value, of(metric), extraDecimals)
  return {
    name: metric => of(metric).title,
    nameWithin: metric => withinSentence(of(metric).title),
    measure,
    difference: (value, metric, extraDecimals = 0) => differenceText(value, of(metric), extraDecimals),
    shownDifference: (low, high, metric, extraDecimals) => {
      const shown = (value: number) => Number(value.toFixed(of(metric).decimals + extraDecimals))
      return differenceText(shown(high) - shown(low), of(metric), extraDecimals)
    },
    moment: timeMs => `${dateText(local, timeMs)}, ${local.text(timeMs * 1000).slice(11)}`,
    date: timeMs => dateText(local, timeMs),
    duration: durationText,
    count: countText,
  }
}

function withUnit(value: number, { unit, decimals }: Described, extraDecimals: number): string {
  const number = Math.abs(value).toFixed(decimals + extraDecimals)
  const signed = value < 0 && Number(number) !== 0 ? `−${number}` : number
  if (unit === null || unit === '1') return signed
  return unit === '°' ? `${signed}°` : `${signed} ${unit}`
}

/** 5 % less of a share would differ from 5 points. */
function differenceText(value: number, described: Described, extraDecimals: number): string {
  if (described.unit !== '%') return withUnit(value, described, extraDecimals)
  const number = withUnit(value, { ...described, unit: null }, extraDecimals)
  return `${number} ${number === '1' ? 'point' : 'points'}`
}

/** `wind speed`, but `CO₂` and `PM2.5`. */
function withinSentence(title: string): string {
  const [word = ''] = title.split(' ', 1)
  const isWord = word.slice(1) === word.slice(1).toLowerCase() && !/\d/.test(word)
  return isWord ? title.slice(0, 1).toLowerCase() + title.slice(1) : title
}

/** `23 Nov 2026` */
function dateText(local: Pick<LocalTime, 'text'>, timeMs: number): string {
  const [year = '', month = '', day = ''] = local
    .text(timeMs * 1000)
    .slice(0, 10)
    .split('-')
  return `${Number(day)} ${months[Number(month) - 1]} ${year}`
}

const unitsSeconds = [
  [86_400, 'day'],
  [3600, 'hour'],
  [60, 'minute'],
  [1, 'second'],
] as const

/** In the largest unit that gives at least two. */
function durationText(seconds: number): string {
  const [length, noun] = unitsSeconds.find(([length]) => seconds >= 1.995 * length) ?? [1, 'second']
  return countText(Math.round(seconds / length), noun)
}

function countText(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}
