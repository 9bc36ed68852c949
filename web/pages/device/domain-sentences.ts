/** Figures by the purpose of a device, as sentences. */

import type { DomainFigures } from '../../../query/shapes/domain.ts'
import { decimalText, inOneUnit } from '../../text/numbers.ts'
import { timesText } from '../../text/phrases.ts'
import { measure, type Quantities, type Quantity } from '../../text/quantities.ts'
import { reasonSentence } from '../../text/reason-words.ts'
import { countText, tn } from '../../words/words.ts'

/** The name of a figure and its sentence. */
export type FigureSentence = readonly [name: string, sentence: string]

type Totals<Part extends 'weather' | 'indoor' | 'cold_chain' | 'greenhouse'> = NonNullable<DomainFigures[Part]>['total']
type Band = Totals<'indoor'>['temperature']

/** Empty for a device without a profile. */
export function domainSentences(
  { weather, indoor, cold_chain, greenhouse }: DomainFigures,
  of: Quantities,
): FigureSentence[] {
  if (weather !== null) return weatherSentences(weather.total, of)
  if (indoor !== null) return indoorSentences(indoor.total, of)
  if (cold_chain !== null) return coldChainSentences(cold_chain.total, of)
  return greenhouse === null ? [] : greenhouseSentences(greenhouse.total)
}

function weatherSentences(
  { sea_level_pressure: sea, frost, dew, degree_days }: Totals<'weather'>,
  of: Quantities,
): FigureSentence[] {
  const [pressure, temperature] = [of.of('pressure'), of.of('temperature')]
  const spread = () => {
    const [mean, min, max] = [sea.mean ?? 0, sea.min ?? 0, sea.max ?? 0].map(value => measure(value, pressure))
    return `It was ${mean} on average, ${min} to ${max}.`
  }
  const kelvinDays = () => {
    const { days, heating_15_5, heating_20_15, cooling_22 } = degree_days
    const amount = (value: number | null) => `${decimalText(value ?? 0, 0)}\u202fK·d`
    const at = (value: number) => measure(value, temperature)
    const heating = `heating ${amount(heating_15_5)} below ${at(15.5)} and ${amount(heating_20_15)} by VDI 3807`
    return `In ${tn(days, '{count} day', '{count} days')}: ${heating}, cooling ${amount(cooling_22)} above ${at(22)}.`
  }
  return [
    ['Pressure at sea level', sentenceOf(sea, spread)],
    [
      'Frost',
      sentenceOf(frost, () =>
        hoursSentence(frost, (part, total) => `It was below ${measure(0, temperature)} in ${part} of ${total}.`),
      ),
    ],
    [
      'Dew',
      sentenceOf(dew, () =>
        hoursSentence(dew, (part, total) => `The air was almost at its dew point in ${part} of ${total}.`),
      ),
    ],
    ['Degree days', sentenceOf(degree_days, kelvinDays)],
  ]
}

function indoorSentences({ temperature, humidity, mould }: Totals<'indoor'>, of: Quantities): FigureSentence[] {
  const atWall = (part: string, total: string) =>
    `The coldest corner of an outer wall had a humidity of 80\u202f% or more in ${part} of ${total}.`
  return [
    ['Temperature', sentenceOf(temperature, () => bandSentence(temperature, of.of('temperature')))],
    ['Humidity', sentenceOf(humidity, () => bandSentence(humidity, of.of('humidity')))],
    ['Mould', sentenceOf(mould, () => hoursSentence(mould, atWall))],
  ]
}

function coldChainSentences(figures: Totals<'cold_chain'>, of: Quantities): FigureSentence[] {
  const { temperature, mean_kinetic_temperature: kinetic, door_openings: doors, defrosts } = figures
  const shown = of.of('temperature')
  const period = () => {
    const every = inOneUnit(3600 * (defrosts.period_hours ?? 0), true)
    return `There ${defrosts.count === 1 ? 'was' : 'were'} ${tn(defrosts.count ?? 0, '{count} defrost', '{count} defrosts')}, one every ${every}.`
  }
  return [
    ['Temperature', sentenceOf(temperature, () => bandSentence(temperature, shown))],
    ['Mean kinetic temperature', sentenceOf(kinetic, () => `It was ${measure(kinetic.value ?? 0, shown)}.`)],
    [
      'Doors',
      sentenceOf(doors, () => `The temperature rose ${timesText(doors.count ?? 0)}, as it does when a door is open.`),
    ],
    ['Defrosts', sentenceOf(defrosts, period)],
  ]
}

function greenhouseSentences({ vapour_pressure_deficit: deficit, leaf_dew }: Totals<'greenhouse'>): FigureSentence[] {
  const kPa = { ...plain, unit: 'kPa', decimals: 2 }
  const ofDeficit = () => `It was ${measure(deficit.mean ?? 0, kPa)} on average. ${bandSentence(deficit, kPa)}`
  return [
    ['Vapour-pressure deficit', sentenceOf(deficit, ofDeficit)],
    [
      'Dew on leaves',
      sentenceOf(leaf_dew, () =>
        hoursSentence(leaf_dew, (part, total) => `Leaves were at their dew point in ${part} of ${total}.`),
      ),
    ],
  ]
}

const plain: Quantity = { name: '', kind: 'gauge', isNumbered: false, unit: '', decimals: 0, factor: 1, offset: 0 }

function sentenceOf({ reason }: { readonly reason: string | null }, textOf: () => string): string {
  return reason === null ? textOf() : reasonSentence(reason)
}

/** `It was below 0 °C in 24 of 274 hours.` */
function hoursSentence(
  { hours, observed_hours }: { hours: number | null; observed_hours: number },
  sentence: (part: string, total: string) => string,
): string {
  return sentence(partText(hours ?? 0), totalText(observed_hours))
}

function bandSentence(
  { below, above, hours_below, hours_above, observed_hours, ...spread }: Band,
  quantity: Quantity,
): string {
  if (below === null || above === null) {
    const [mean, min, max] = [spread.mean ?? 0, spread.min ?? 0, spread.max ?? 0].map(one => measure(one, quantity))
    return `It was ${mean} on average, ${min} to ${max}. Excursions need limits: this device has none.`
  }
  const [low, high] = [measure(below, quantity), measure(above, quantity)]
  const [under, over] = [partText(hours_below ?? 0), partText(hours_above ?? 0)]
  const total = totalText(observed_hours)
  const [isUnder, isOver] = [(hours_below ?? 0) > 0, (hours_above ?? 0) > 0]
  if (isUnder && isOver) return `It was below ${low} in ${under} and above ${high} in ${over} of ${total}.`
  if (isUnder) return `It was below ${low} in ${under} of ${total}, and never above ${high}.`
  if (isOver) return `It was above ${high} in ${over} of ${total}, and never below ${low}.`
  return `In ${total}, it was never below ${low} or above ${high}.`
}

/** A smaller value is shown in minutes, since it does not round to an hour. */
const hoursMin = 0.95

/** `none`, `24`, or a fraction of an hour. */
function partText(hours: number): string {
  return hours === 0 ? 'none' : hours < hoursMin ? inOneUnit(3600 * hours) : countText(Math.round(hours))
}

/** `274 hours`, `24 minutes` */
function totalText(hours: number): string {
  return hours < hoursMin ? inOneUnit(3600 * hours) : tn(Math.round(hours), '{count} hour', '{count} hours')
}
