/**
 * Derived quantities of a reading, from temperature T in °C, relative humidity in %, pressure in hPa and height in m.
 * Sources: WMO-No. 8, Guide to Instruments and Methods of Observation, annex 4.B (Magnus formula over water) and the
 * WMO formula of reduction to sea level. They are derived reading by reading and averaged afterwards.
 *
 * NaN where an input is missing, humidity is not above 0 or is beyond 103 %; up to that, over 100 % counts as 100.
 */

/** Dew point in °C: γ = ln(RH/100) + 17.62 T/(243.12 + T), T_d = 243.12 γ/(17.62 − γ). */
export function dewPoint(temperature: number, humidity: number): number {
  const gamma = Math.log(saturation(humidity)) + (17.62 * temperature) / (243.12 + temperature)
  return (243.12 * gamma) / (17.62 - gamma)
}

/** Absolute humidity in g/m³: 216.7 e/(T + 273.15). */
export function absoluteHumidity(temperature: number, humidity: number): number {
  return (216.7 * vapourPressure(temperature, humidity)) / (temperature + 273.15)
}

/**
 * Pressure in hPa: p · 10^(K_p H/T_v) with K_p = 0.0148275 K/m and the virtual temperature of the air column below, T_v
 * = T + 273.15 + 0.0065 H/2 + 0.12 e.
 */
export function seaLevelPressure(pressure: number, temperature: number, humidity: number, altitudeM: number): number {
  const vapour = vapourPressure(temperature, humidity)
  const virtualTemperature = temperature + 273.15 + (0.0065 * altitudeM) / 2 + 0.12 * vapour
  return pressure * 10 ** ((0.0148275 * altitudeM) / virtualTemperature)
}

export function dewPoints(temperatures: Float64Array, humidities: Float64Array): Float64Array {
  const points = new Float64Array(temperatures.length)
  for (let index = 0; index < points.length; index++) {
    points[index] = dewPoint(temperatures[index] as number, humidities[index] as number)
  }
  return points
}

/** Partial pressure of the water vapour, in hPa. */
export function vapourPressure(temperature: number, humidity: number): number {
  return saturation(humidity) * saturationPressure(temperature)
}

/** Saturation pressure over water in hPa: e_s = 6.112 exp(17.62 T/(243.12 + T)). */
export function saturationPressure(temperature: number): number {
  return 6.112 * Math.exp((17.62 * temperature) / (243.12 + temperature))
}

/** Relative humidity as a share of 1. */
function saturation(humidity: number): number {
  return humidity > 0 && humidity <= 103 ? Math.min(humidity, 100) / 100 : Number.NaN
}
