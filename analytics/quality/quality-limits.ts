/**
 * From where on a reading of each metric is suspect, unless a device is configured otherwise. Ranges are of the world's
 * inhabited places; steps of one minute and changes over 1 to 12 hours are the WMO's (Guide to Instruments and Methods
 * of Observation, quality control of automatic stations). Its flat line of 60 minutes is too eager: pressure was
 * measured to stand still for 2.6 h, and humidity stands for 20 h in fog, so it takes 3 h here, and humidity counts
 * below 95 % only.
 */

export interface QualityLimits {
  /** Suspect outside [min, max]; null: no such test. */
  readonly range: readonly [number, number] | null
  /** Suspect further than this from the mean of both neighbours. */
  readonly spike: number | null
  /**
   * Largest change between two readings, by the time between them: [milliseconds, change], ascending, linear between.
   */
  readonly rate: readonly (readonly [number, number])[]
  /** Suspect when the spread stays below this for three hours. */
  readonly flat: number | null
  /** Readings from here on are in no flat line. */
  readonly flatBelow: number
}

const minuteMs = 60_000
const hourMs = 60 * minuteMs

function changes(perMinute: number, over: readonly number[]): [number, number][] {
  return [[minuteMs, perMinute], ...over.map((change, index): [number, number] => [rateHours[index] as number, change])]
}
const rateHours = [1, 2, 3, 6, 12].map(hours => hours * hourMs)

const none: QualityLimits = { range: null, spike: null, rate: [], flat: null, flatBelow: Number.POSITIVE_INFINITY }

/** In °C, %, hPa and V; the battery is bounded by what is stored at all. */
export const qualityLimits = {
  temperature: { ...none, range: [-30, 50], spike: 3, rate: changes(3, [4, 7, 9, 15, 25]), flat: 0.1 },
  humidity: { ...none, spike: 15, rate: changes(15, []), flat: 1, flatBelow: 95 },
  pressure: { ...none, range: [870, 1085], spike: 1, rate: changes(0.5, [3, 6, 9, 18, 36]), flat: 0.1 },
  battery_voltage: none,
  battery_percentage: none,
} satisfies Record<string, QualityLimits>
