/**
 * The values of a stored row encode the number of its attempt, so no index has to be kept. Plausible sensor values carry the
 * digits of the number. The battery's value carries a checksum.
 */

/** Encodes attempt numbers in the rows of one table. */
export interface Identity {
  valuesOf(sequence: number): RowValues
  /** The encoded number. Undefined for foreign values. The caller verifies the checksum. */
  sequenceOf(values: RowValues): number | undefined
}

/** Values by name: NaN or an empty text for missing ones. Names that the route does not return are absent. */
export type RowValues = Readonly<Record<string, number | string>>

export const columns = ['temperature', 'humidity', 'pressure', 'battery_voltage', 'battery_percentage'] as const
export type Values = Record<(typeof columns)[number], number>

const temperatureSteps = 1000
const humiditySteps = 900
const pressureSteps = 3500
/** Numbers from this one on would repeat. */
export const sequenceEnd = temperatureSteps * humiditySteps * pressureSteps

/** One decimal, equal to the double that is parsed from JSON. */
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
/** A power of two makes the decimals exact in a double and in its text. */
const customSteps = 32

/** Up to twenty custom values for an attempt's number, which each value encodes. */
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
/** A power of two makes the decimals exact in a double and in its text. */
const checkSteps = 128

/** The value of a point encodes its number and a checksum in its decimals. The unit encodes another one. */
export function pointValuesOf(sequence: number): { value: number; unit: string } {
  const check = (sequence * 31) % 97
  return { value: sequence + check / checkSteps, unit: units[sequence % units.length] ?? '' }
}

export const pointIdentity: Identity = {
  valuesOf: sequence => ({ ...pointValuesOf(sequence) }),
  sequenceOf: ({ value = Number.NaN }) => (Number(value) >= 0 ? Math.floor(Number(value)) : undefined),
}
