/**
 * Which attempt a stored row comes from stands in its own values, so that nothing has to be kept in step with them: the
 * digits of the attempt's number, spread over values that a real sensor could give, and a check over it in the battery's.
 */

/** How the rows of one table carry the numbers of their attempts. */
export interface Identity {
  valuesOf(sequence: number): RowValues
  /** The number that the values carry, or undefined when they are no values of ours. The check is left to the caller. */
  sequenceOf(values: RowValues): number | undefined
}

/** By name. NaN or an empty text where there is nothing, and no name where the route that was asked does not tell it. */
export type RowValues = Readonly<Record<string, number | string>>

export const columns = ['temperature', 'humidity', 'pressure', 'battery_voltage', 'battery_percentage'] as const
export type Values = Record<(typeof columns)[number], number>

const temperatureSteps = 1000
const humiditySteps = 900
const pressureSteps = 3500
/** Numbers from here on would repeat. */
export const sequenceEnd = temperatureSteps * humiditySteps * pressureSteps

/** One decimal, as the double that a JSON text of it reads back to. */
const tenths = (count: number): number => Number((count / 10).toFixed(1))

export function valuesOf(sequence: number): Values {
  const rest = Math.floor(sequence / temperatureSteps)
  return {
    temperature: tenths((sequence % temperatureSteps) - 400),
    humidity: tenths((rest % humiditySteps) + 50),
    pressure: tenths(Math.floor(rest / humiditySteps) + 7000),
    battery_voltage: tenths((sequence * 31) % 97),
    battery_percentage: tenths((sequence * 7919) % 997),
  }
}

/** The number that the values carry, or undefined when they are no values of ours. The check is left to the caller. */
export function sequenceOf({ temperature, humidity, pressure }: Pick<Values, 'temperature' | 'humidity' | 'pressure'>) {
  const low = Math.round(temperature * 10) + 400
  const middle = Math.round(humidity * 10) - 50
  const high = Math.round(pressure * 10) - 7000
  const inside =
    low >= 0 && low < temperatureSteps && middle >= 0 && middle < humiditySteps && high >= 0 && high < pressureSteps
  return inside ? low + temperatureSteps * (middle + humiditySteps * high) : undefined
}

const metricCount = 20
const metricOf = (index: number): string => `fault_${index}`
export const erasedMetric = metricOf(0)
/** A power of two: what stands behind the point is exact in a double and in its text. */
const customSteps = 32

/** Values of metrics beside the five, none up to twenty of them, by the attempt's number, which is in each value. */
export function customOf(sequence: number): Record<string, number> {
  const count = sequence % (metricCount + 1)
  const first = (sequence * 7) % metricCount
  const indices = Array.from({ length: count }, (_, index) => (first + index) % metricCount)
  return Object.fromEntries(indices.map(index => [metricOf(index), sequence + index / customSteps]))
}

export const absent = Object.fromEntries(
  Array.from({ length: metricCount }, (_, index) => [metricOf(index), Number.NaN]),
)

export function allCustomOf(sequence: number): Readonly<Record<string, number>> {
  return { ...absent, ...customOf(sequence) }
}

export const readingIdentity: Identity = {
  valuesOf: sequence => ({ ...valuesOf(sequence), ...allCustomOf(sequence) }),
  sequenceOf: ({ temperature = Number.NaN, humidity = Number.NaN, pressure = Number.NaN }) =>
    sequenceOf({ temperature: Number(temperature), humidity: Number(humidity), pressure: Number(pressure) }),
}

const units = ['ppm', 'ppb', 'ugm3'] as const
/** A power of two: the check behind the point is exact in a double and in its text. */
const checkSteps = 128

/** Of a point: its number, a check behind the decimal point, and another one in the unit. */
export function pointValuesOf(sequence: number): { value: number; unit: string } {
  const check = (sequence * 31) % 97
  return { value: sequence + check / checkSteps, unit: units[sequence % units.length] ?? '' }
}

export const pointIdentity: Identity = {
  valuesOf: sequence => ({ ...pointValuesOf(sequence) }),
  sequenceOf: ({ value = Number.NaN }) => (Number(value) >= 0 ? Math.floor(Number(value)) : undefined),
}
