/** The cell of a device: it loses the same charge each day, and shows the voltage of that by the curve of its type. */

import { type CellType, voltageOf } from '../../analytics/battery/curves.ts'

export interface Battery {
  type: CellType
  /** Charge in percent at the first start of the demo. */
  charge: number
  percentPerDay: number
}

const dayMs = 86_400_000
/** Voltage per kelvin of a cell in the cold. The curves are measured at 20 K. */
const voltsPerDegree = 0.001
const curveDegrees = 20

/** The results are in volts and percent. An empty cell is charged. */
export function batteryAt(
  { type, charge, percentPerDay }: Battery,
  timeMs: number,
  startedMs: number,
  temperature: number,
): { battery_voltage: number; battery_percentage: number } {
  const left = charge - (percentPerDay * (timeMs - startedMs)) / dayMs
  const percentage = ((left % 100) + 100) % 100
  return {
    battery_voltage: voltageOf(type, percentage) + voltsPerDegree * (temperature - curveDegrees),
    battery_percentage: percentage,
  }
}
