/** Figures by the purpose of a device, as sentences. */

import type { DomainFigures } from '../../../query/shapes/domain.ts'
import { decimalText, inOneUnit } from '../../text/numbers.ts'
import { timesText } from '../../text/phrases.ts'
import { measure, type Quantities, type Quantity } from '../../text/quantities.ts'
import { reasonSentence } from '../../text/reason-words.ts'
import { countText, t, tn } from '../../words/words.ts'

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

interface Spread {
  readonly mean: number | null
  readonly min: number | null
  readonly max: number | null
}

function spreadOf({ mean, min, max }: Spread, quantity: Quantity) {
  const text = (value: number | null) => measure(value ?? 0, quantity)
  return { mean: text(mean), min: text(min), max: text(max) }
}

function weatherSentences(
  { sea_level_pressure: sea, frost, dew, degree_days }: Totals<'weather'>,
  of: Quantities,
): FigureSentence[] {
  const [pressure, temperature] = [of.of('pressure'), of.of('temperature')]
  const spread = () => {
    return t('It was {mean} on average, {min} to {max}.', spreadOf(sea, pressure))
  }
  const kelvinDays = () => {
    const { days, heating_15_5, heating_20_15, cooling_22 } = degree_days
    const amount = (value: number | null) => `${decimalText(value ?? 0, 0)}\u202fK·d`
    const at = (value: number) => measure(value, temperature)
    const heating = t('heating {amount} below {at} and {other} by VDI 3807', {
      amount: amount(heating_15_5),
      at: at(15.5),
      other: amount(heating_20_15),
    })
    return tn(
      days,
      'In {count} day: {heating}, cooling {amount} above {at}.',
      'In {count} days: {heating}, cooling {amount} above {at}.',
      { heating, amount: amount(cooling_22), at: at(22) },
    )
  }
  return [
    [t('Pressure at sea level'), sentenceOf(sea, spread)],
    [
      t('Frost'),
      sentenceOf(frost, () =>
        hoursSentence(frost, (part, total) =>
          t('It was below {value} in {part} of {total}.', { value: measure(0, temperature), part, total }),
        ),
      ),
    ],
    [
      t('Dew'),
      sentenceOf(dew, () =>
        hoursSentence(dew, (part, total) =>
          t('The air was almost at its dew point in {part} of {total}.', { part, total }),
        ),
      ),
    ],
    [t('Degree days'), sentenceOf(degree_days, kelvinDays)],
  ]
}

function indoorSentences({ temperature, humidity, mould }: Totals<'indoor'>, of: Quantities): FigureSentence[] {
  const atWall = (part: string, total: string) =>
    t('The coldest corner of an outer wall had a humidity of 80\u202f% or more in {part} of {total}.', { part, total })
  return [
    [t('Temperature'), sentenceOf(temperature, () => bandSentence(temperature, of.of('temperature')))],
    [t('Humidity'), sentenceOf(humidity, () => bandSentence(humidity, of.of('humidity')))],
    [t('Mould'), sentenceOf(mould, () => hoursSentence(mould, atWall))],
  ]
}

function coldChainSentences(figures: Totals<'cold_chain'>, of: Quantities): FigureSentence[] {
  const { temperature, mean_kinetic_temperature: kinetic, door_openings: doors, defrosts } = figures
  const shown = of.of('temperature')
  const period = () => {
    const every = inOneUnit(3600 * (defrosts.period_hours ?? 0), true)
    return tn(
      defrosts.count ?? 0,
      'There was {count} defrost, one every {every}.',
      'There were {count} defrosts, one every {every}.',
      { every },
    )
  }
  return [
    [t('Temperature'), sentenceOf(temperature, () => bandSentence(temperature, shown))],
    [
      t('Mean kinetic temperature'),
      sentenceOf(kinetic, () => t('It was {value}.', { value: measure(kinetic.value ?? 0, shown) })),
    ],
    [
      t('Doors'),
      sentenceOf(doors, () =>
        t('The temperature rose {times}, as it does when a door is open.', { times: timesText(doors.count ?? 0) }),
      ),
    ],
    [t('Defrosts'), sentenceOf(defrosts, period)],
  ]
}

function greenhouseSentences({ vapour_pressure_deficit: deficit, leaf_dew }: Totals<'greenhouse'>): FigureSentence[] {
  const kPa = { ...plain, unit: 'kPa', decimals: 2 }
  const ofDeficit = () =>
    `${t('It was {value} on average.', { value: measure(deficit.mean ?? 0, kPa) })} ${bandSentence(deficit, kPa)}`
  return [
    [t('Vapour-pressure deficit'), sentenceOf(deficit, ofDeficit)],
    [
      t('Dew on leaves'),
      sentenceOf(leaf_dew, () =>
        hoursSentence(leaf_dew, (part, total) =>
          t('Leaves were at their dew point in {part} of {total}.', { part, total }),
        ),
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
    return t(
      'It was {mean} on average, {min} to {max}. Excursions need limits: this device has none.',
      spreadOf(spread, quantity),
    )
  }
  const [low, high] = [measure(below, quantity), measure(above, quantity)]
  const [under, over] = [partText(hours_below ?? 0), partText(hours_above ?? 0)]
  const total = totalText(observed_hours)
  const [isUnder, isOver] = [(hours_below ?? 0) > 0, (hours_above ?? 0) > 0]
  if (isUnder && isOver)
    return t('It was below {low} in {under} and above {high} in {over} of {total}.', { low, under, high, over, total })
  if (isUnder)
    return t('It was below {low} in {under} of {total}, and never above {high}.', { low, under, total, high })
  if (isOver) return t('It was above {high} in {over} of {total}, and never below {low}.', { high, over, total, low })
  return t('In {total}, it was never below {low} or above {high}.', { total, low, high })
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
