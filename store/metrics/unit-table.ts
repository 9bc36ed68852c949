/**
 * Units by their UCUM codes (The Unified Code for Units of Measure, 2.2), and how senders write them.
 *
 * A value in the unit is `(value - zero) * factor` in the base of its dimension; `zero` defaults to 0. Aliases match in any case,
 * unless two units would match; a single letter matches only as it stands here.
 */

export interface UnitRow {
  readonly code: string
  /** Display form. */
  readonly sign: string
  readonly factor: number
  readonly zero?: number
  readonly aliases: readonly string[]
}

const poundKg = 0.453_592_37
const gallonM3 = 0.003_785_411_784

/** Keys are dimensions. The base unit of each has the factor 1. */
export const unitTable = {
  temperature: [
    { code: 'Cel', sign: '°C', factor: 1, aliases: ['C', 'c', 'degC', 'deg_C', 'celsius', 'degrees celsius'] },
    {
      code: '[degF]',
      sign: '°F',
      factor: 5 / 9,
      zero: 32,
      aliases: ['F', 'f', 'degF', 'deg_F', 'fahrenheit', 'degrees fahrenheit'],
    },
    { code: 'K', sign: 'K', factor: 1, zero: 273.15, aliases: ['k', 'kelvin', 'degK', '°K'] },
  ],
  fraction: [
    { code: '%', sign: '%', factor: 1, aliases: ['percent', 'pct', '%rh', 'rh%', '%vwc'] },
    { code: '1', sign: '1', factor: 100, aliases: ['ratio', 'fraction', 'm3/m3'] },
  ],
  'mole fraction': [
    { code: 'ppm', sign: 'ppm', factor: 1, aliases: ['[ppm]', 'ppmv', 'parts per million'] },
    { code: 'ppb', sign: 'ppb', factor: 1e-3, aliases: ['[ppb]', 'ppbv', 'parts per billion'] },
  ],
  'mass concentration': [
    { code: 'ug/m3', sign: 'µg/m³', factor: 1, aliases: ['ugm3', 'ug/m^3', 'ug.m-3', 'mcg/m3'] },
    { code: 'ng/m3', sign: 'ng/m³', factor: 1e-3, aliases: ['ng/m^3'] },
    { code: 'mg/m3', sign: 'mg/m³', factor: 1e3, aliases: ['mgm3', 'mg/m^3'] },
    { code: 'g/m3', sign: 'g/m³', factor: 1e6, aliases: ['g/m^3'] },
    { code: 'kg/m3', sign: 'kg/m³', factor: 1e9, aliases: ['kg/m^3'] },
    { code: 'ug/L', sign: 'µg/L', factor: 1e3, aliases: ['ug/l'] },
    { code: 'mg/L', sign: 'mg/L', factor: 1e6, aliases: ['mg/l', 'mgl'] },
    { code: 'g/L', sign: 'g/L', factor: 1e9, aliases: ['g/l'] },
  ],
  'number concentration': [
    { code: '/cm3', sign: '1/cm³', factor: 1, aliases: ['1/cm3', '#/cm3', 'cm-3'] },
    { code: '/L', sign: '1/L', factor: 1e-3, aliases: ['1/L', '#/L'] },
  ],
  pressure: [
    { code: 'hPa', sign: 'hPa', factor: 1, aliases: ['hectopascal'] },
    { code: 'mbar', sign: 'mbar', factor: 1, aliases: ['mb', 'millibar', 'millibars'] },
    { code: 'Pa', sign: 'Pa', factor: 0.01, aliases: ['pascal'] },
    { code: 'kPa', sign: 'kPa', factor: 10, aliases: ['kilopascal'] },
    { code: 'bar', sign: 'bar', factor: 1000, aliases: [] },
    { code: "[in_i'Hg]", sign: 'inHg', factor: 33.863_886_666_667, aliases: ['in Hg', 'inches of mercury', '"Hg'] },
    { code: 'mm[Hg]', sign: 'mmHg', factor: 1.333_223_874_15, aliases: ['mm Hg', 'torr'] },
    { code: '[psi]', sign: 'psi', factor: 68.947_572_931_783, aliases: [] },
    { code: 'atm', sign: 'atm', factor: 1013.25, aliases: [] },
  ],
  speed: [
    { code: 'm/s', sign: 'm/s', factor: 1, aliases: ['mps', 'm.s-1', 'm s-1', 'meters per second'] },
    { code: 'km/h', sign: 'km/h', factor: 1 / 3.6, aliases: ['kmh', 'kph', 'kmph', 'km/hr', 'km.h-1'] },
    { code: '[mi_i]/h', sign: 'mph', factor: 0.447_04, aliases: ['mi/h', 'mi/hr', 'miles per hour'] },
    { code: '[kn_i]', sign: 'kn', factor: 1852 / 3600, aliases: ['kt', 'kts', 'knot', 'knots'] },
    { code: '[ft_i]/s', sign: 'ft/s', factor: 0.3048, aliases: ['fps'] },
    { code: 'mm/h', sign: 'mm/h', factor: 1 / 3.6e6, aliases: ['mmh', 'mm/hr', 'mm.h-1'] },
    { code: '[in_i]/h', sign: 'in/h', factor: 0.0254 / 3600, aliases: ['in/hr', 'inh', 'iph'] },
  ],
  angle: [
    { code: 'deg', sign: '°', factor: 1, aliases: ['degree', 'degrees'] },
    { code: 'rad', sign: 'rad', factor: 180 / Math.PI, aliases: ['radian', 'radians'] },
  ],
  length: [
    { code: 'm', sign: 'm', factor: 1, aliases: ['metre', 'metres', 'meter', 'meters'] },
    { code: 'km', sign: 'km', factor: 1000, aliases: ['kilometre', 'kilometres', 'kilometer', 'kilometers'] },
    { code: 'cm', sign: 'cm', factor: 0.01, aliases: [] },
    { code: 'mm', sign: 'mm', factor: 1e-3, aliases: ['l/m2'] },
    { code: 'um', sign: 'µm', factor: 1e-6, aliases: ['micron', 'microns'] },
    { code: '[in_i]', sign: 'in', factor: 0.0254, aliases: ['inch', 'inches', '"'] },
    { code: '[ft_i]', sign: 'ft', factor: 0.3048, aliases: ['foot', 'feet'] },
    { code: '[mi_i]', sign: 'mi', factor: 1609.344, aliases: ['mile', 'miles'] },
  ],
  volume: [
    { code: 'm3', sign: 'm³', factor: 1, aliases: ['m^3', 'cbm'] },
    { code: 'L', sign: 'L', factor: 1e-3, aliases: ['l', 'litre', 'litres', 'liter', 'liters'] },
    { code: 'mL', sign: 'mL', factor: 1e-6, aliases: ['ml'] },
    { code: '[gal_us]', sign: 'gal', factor: gallonM3, aliases: ['gallon', 'gallons'] },
    { code: '[cft_i]', sign: 'ft³', factor: 0.028_316_846_592, aliases: ['cf', 'ft^3', 'cu ft'] },
  ],
  'volume flow': [
    { code: 'm3/h', sign: 'm³/h', factor: 1, aliases: ['m^3/h', 'm3/hr', 'cmh'] },
    { code: 'L/min', sign: 'L/min', factor: 0.06, aliases: ['lpm', 'l/m'] },
    { code: 'L/s', sign: 'L/s', factor: 3.6, aliases: ['lps'] },
    { code: 'L/h', sign: 'L/h', factor: 1e-3, aliases: ['lph', 'l/hr'] },
    { code: '[gal_us]/min', sign: 'gal/min', factor: gallonM3 * 60, aliases: ['gpm'] },
  ],
  mass: [
    { code: 'kg', sign: 'kg', factor: 1, aliases: ['kilogram', 'kilograms'] },
    { code: 'g', sign: 'g', factor: 1e-3, aliases: ['gram', 'grams'] },
    { code: 'mg', sign: 'mg', factor: 1e-6, aliases: [] },
    { code: 't', sign: 't', factor: 1000, aliases: ['tonne', 'tonnes'] },
    { code: '[lb_av]', sign: 'lb', factor: poundKg, aliases: ['lbs', 'pound', 'pounds'] },
    { code: '[oz_av]', sign: 'oz', factor: poundKg / 16, aliases: ['ounce', 'ounces'] },
  ],
  illuminance: [
    { code: 'lx', sign: 'lx', factor: 1, aliases: ['lux'] },
    { code: 'klx', sign: 'klx', factor: 1000, aliases: ['klux', 'kilolux'] },
  ],
  irradiance: [
    { code: 'W/m2', sign: 'W/m²', factor: 1, aliases: ['wm2', 'W/m^2', 'W.m-2'] },
    { code: 'kW/m2', sign: 'kW/m²', factor: 1000, aliases: ['kW/m^2'] },
    { code: 'mW/cm2', sign: 'mW/cm²', factor: 10, aliases: ['mW/cm^2'] },
  ],
  'photon flux density': [
    { code: 'umol/m2/s', sign: 'µmol/(m²·s)', factor: 1, aliases: ['umol/m2s', 'umol/(m2.s)', 'umol/m^2/s'] },
  ],
  power: [
    { code: 'W', sign: 'W', factor: 1, aliases: ['w', 'watt', 'watts'] },
    { code: 'mW', sign: 'mW', factor: 1e-3, aliases: ['milliwatt'] },
    { code: 'kW', sign: 'kW', factor: 1e3, aliases: ['kilowatt'] },
    { code: 'MW', sign: 'MW', factor: 1e6, aliases: ['megawatt'] },
  ],
  'apparent power': [
    { code: 'V.A', sign: 'VA', factor: 1, aliases: ['volt-ampere'] },
    { code: 'kV.A', sign: 'kVA', factor: 1e3, aliases: [] },
  ],
  energy: [
    { code: 'kW.h', sign: 'kWh', factor: 1, aliases: ['kilowatt hours'] },
    { code: 'mW.h', sign: 'mWh', factor: 1e-6, aliases: [] },
    { code: 'W.h', sign: 'Wh', factor: 1e-3, aliases: ['watt hours'] },
    { code: 'MW.h', sign: 'MWh', factor: 1e3, aliases: [] },
    { code: 'mJ', sign: 'mJ', factor: 1 / 3.6e9, aliases: [] },
    { code: 'J', sign: 'J', factor: 1 / 3.6e6, aliases: ['joule', 'joules'] },
    { code: 'kJ', sign: 'kJ', factor: 1 / 3600, aliases: [] },
    { code: 'MJ', sign: 'MJ', factor: 1 / 3.6, aliases: [] },
  ],
  voltage: [
    { code: 'V', sign: 'V', factor: 1, aliases: ['v', 'volt', 'volts'] },
    { code: 'uV', sign: 'µV', factor: 1e-6, aliases: [] },
    { code: 'mV', sign: 'mV', factor: 1e-3, aliases: ['millivolt', 'millivolts'] },
    { code: 'kV', sign: 'kV', factor: 1e3, aliases: [] },
  ],
  current: [
    { code: 'A', sign: 'A', factor: 1, aliases: ['a', 'amp', 'amps', 'ampere', 'amperes'] },
    { code: 'uA', sign: 'µA', factor: 1e-6, aliases: [] },
    { code: 'mA', sign: 'mA', factor: 1e-3, aliases: ['milliamp', 'milliamps'] },
  ],
  charge: [
    { code: 'A.h', sign: 'Ah', factor: 1, aliases: [] },
    { code: 'mA.h', sign: 'mAh', factor: 1e-3, aliases: [] },
  ],
  frequency: [
    { code: 'Hz', sign: 'Hz', factor: 1, aliases: ['hertz'] },
    { code: 'mHz', sign: 'mHz', factor: 1e-3, aliases: [] },
    { code: 'kHz', sign: 'kHz', factor: 1e3, aliases: [] },
    { code: 'MHz', sign: 'MHz', factor: 1e6, aliases: [] },
    { code: 'GHz', sign: 'GHz', factor: 1e9, aliases: [] },
    { code: '/min', sign: '1/min', factor: 1 / 60, aliases: ['rpm', 'r/min', 'bpm', 'cpm'] },
  ],
  time: [
    { code: 's', sign: 's', factor: 1, aliases: ['sec', 'secs', 'second', 'seconds'] },
    { code: 'us', sign: 'µs', factor: 1e-6, aliases: ['microseconds'] },
    { code: 'ms', sign: 'ms', factor: 1e-3, aliases: ['msec', 'millisecond', 'milliseconds'] },
    { code: 'min', sign: 'min', factor: 60, aliases: ['minute', 'minutes'] },
    { code: 'h', sign: 'h', factor: 3600, aliases: ['hr', 'hrs', 'hour', 'hours'] },
    { code: 'd', sign: 'd', factor: 86_400, aliases: ['day', 'days'] },
  ],
  data: [
    { code: 'By', sign: 'B', factor: 1, aliases: ['byte', 'bytes'] },
    { code: 'kBy', sign: 'kB', factor: 1e3, aliases: ['kilobytes'] },
    { code: 'MBy', sign: 'MB', factor: 1e6, aliases: ['megabytes'] },
    { code: 'GBy', sign: 'GB', factor: 1e9, aliases: ['gigabytes'] },
    { code: 'KiBy', sign: 'KiB', factor: 1024, aliases: [] },
    { code: 'MiBy', sign: 'MiB', factor: 1024 ** 2, aliases: [] },
    { code: 'GiBy', sign: 'GiB', factor: 1024 ** 3, aliases: [] },
  ],
  'data rate': [
    { code: 'bit/s', sign: 'bit/s', factor: 1, aliases: ['bps'] },
    { code: 'kbit/s', sign: 'kbit/s', factor: 1e3, aliases: ['kbps'] },
    { code: 'Mbit/s', sign: 'Mbit/s', factor: 1e6, aliases: ['mbps'] },
  ],
  level: [{ code: 'dB', sign: 'dB', factor: 1, aliases: ['decibel', 'decibels', 'dBA', 'dB(A)'] }],
  'signal power': [{ code: 'dB[mW]', sign: 'dBm', factor: 1, aliases: [] }],
  conductivity: [
    { code: 'uS/cm', sign: 'µS/cm', factor: 1, aliases: [] },
    { code: 'mS/cm', sign: 'mS/cm', factor: 1e3, aliases: [] },
    { code: 'S/m', sign: 'S/m', factor: 1e4, aliases: [] },
  ],
  acidity: [{ code: '[pH]', sign: 'pH', factor: 1, aliases: [] }],
  'dose rate': [
    { code: 'uSv/h', sign: 'µSv/h', factor: 1, aliases: ['usv/hr'] },
    { code: 'nSv/h', sign: 'nSv/h', factor: 1e-3, aliases: [] },
    { code: 'mSv/h', sign: 'mSv/h', factor: 1e3, aliases: [] },
  ],
  'activity concentration': [{ code: 'Bq/m3', sign: 'Bq/m³', factor: 1, aliases: ['bq/m^3'] }],
  acceleration: [
    { code: 'm/s2', sign: 'm/s²', factor: 1, aliases: ['m/s^2'] },
    { code: '[g]', sign: 'g₀', factor: 9.806_65, aliases: [] },
  ],
} as const satisfies Record<string, readonly UnitRow[]>
