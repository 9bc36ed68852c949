/**
 * Common metrics, set up by their names: a metric that a sender or an administrator names by one of these is created as it stands
 * here. Aliases are in the spelling of names (`metricNameOf`). A name is never an alias of another one. Ranges follow the sensors
 * on the market, not the usual weather: values outside them are sensor faults. Minima below zero leave room for noise and zero
 * error; docs/metrics.md has the source of each.
 */

import type { MetricKind } from './metric.ts'

export interface CatalogueEntry {
  readonly name: string
  readonly title: string
  readonly aliases: readonly string[]
  readonly unit: string | null
  readonly kind: MetricKind
  readonly decimals: number
  readonly min: number | null
  readonly max: number | null
}

type Range = readonly [min: number | null, max: number | null]

function gauge(
  name: string,
  title: string,
  unit: string | null,
  decimals: number,
  [min, max]: Range,
  aliases: readonly string[] = [],
): CatalogueEntry {
  return { name, title, aliases, unit, kind: 'gauge', decimals, min, max }
}

function ofKind(kind: MetricKind, entry: CatalogueEntry): CatalogueEntry {
  return { ...entry, kind }
}

const counter = (name: string, title: string, unit: string | null, decimals: number, aliases: readonly string[]) =>
  ofKind('counter', gauge(name, title, unit, decimals, [0, null], aliases))
const state = (name: string, title: string, aliases: readonly string[]) =>
  ofKind('state', gauge(name, title, null, 0, [0, 1], aliases))

const batteryCharge = ['battery', 'battery_level', 'battery_percent', 'batt', 'soc']

const air: readonly CatalogueEntry[] = [
  // Columns of the table of readings.
  gauge('temperature', 'Temperature', 'Cel', 1, [-90, 85], ['temp', 'temp_c', 'tempc']),
  gauge('humidity', 'Humidity', '%', 0, [0, 103], ['hum', 'rh']),
  gauge('pressure', 'Pressure', 'hPa', 1, [300, 1100]),
  gauge('battery_voltage', 'Battery voltage', 'V', 2, [0, 100], ['vbat', 'v_bat', 'battery_v', 'batt_v']),
  gauge('battery_percentage', 'Battery charge', '%', 0, [0, 110], batteryCharge),
  gauge('co2', 'CO₂', 'ppm', 0, [0, 100_000], ['co2_ppm', 'carbon_dioxide', 'carbondioxide', 'carbon_dioxide_ppm']),
  gauge('eco2', 'Equivalent CO₂', 'ppm', 0, [0, 65_535], ['e_co2', 'eco2_ppm', 'equivalent_co2', 'co2_equivalent']),
  gauge('tvoc', 'Volatile organic compounds', 'ppb', 0, [-50, 65_535], ['tvoc_ppb', 'total_voc', 'voc', 'voc_ppb']),
  gauge('voc_index', 'VOC index', null, 0, [0, 500], ['sgp40_voc_index', 'tvoc_index']),
  gauge('nox_index', 'NOx index', null, 0, [0, 500], ['sgp41_nox_index']),
  gauge('air_quality_index', 'Air quality index', null, 0, [0, 1000], ['aqi', 'iaq', 'us_aqi']),
  gauge('pm1', 'PM1', 'ug/m3', 1, [-15, 10_000], ['pm1_0', 'pm01', 'pm_1', 'pm_1_0', 'pm1_ugm3']),
  gauge('pm25', 'PM2.5', 'ug/m3', 1, [-15, 10_000], ['pm2_5', 'pm_25', 'pm_2_5', 'pm02', 'pm25_ugm3', 'pm2_5_ugm3']),
  gauge('pm4', 'PM4', 'ug/m3', 1, [-15, 10_000], ['pm4_0', 'pm_4', 'pm_4_0', 'pm04']),
  gauge('pm10', 'PM10', 'ug/m3', 1, [-15, 10_000], ['pm_10', 'pm10_0', 'pm_10_0', 'pm10_ugm3']),
  gauge('co', 'Carbon monoxide', 'ppm', 1, [-0.5, 10_000], ['co_ppm', 'carbon_monoxide']),
  gauge('no', 'Nitrogen monoxide', 'ppb', 0, [-50, 20_000], ['no_ppb', 'nitric_oxide', 'nitrogen_monoxide']),
  gauge('no2', 'Nitrogen dioxide', 'ppb', 0, [-50, 20_000], ['no2_ppb', 'nitrogen_dioxide']),
  gauge('o3', 'Ozone', 'ppb', 0, [-50, 20_000], ['o3_ppb', 'ozone', 'ozone_ppb']),
  gauge('so2', 'Sulphur dioxide', 'ppb', 0, [-50, 20_000], ['so2_ppb', 'sulphur_dioxide', 'sulfur_dioxide']),
  gauge('nh3', 'Ammonia', 'ppm', 1, [-5, 10_000], ['nh3_ppm', 'ammonia']),
  gauge('h2s', 'Hydrogen sulphide', 'ppm', 2, [-1, 10_000], ['h2s_ppm', 'hydrogen_sulphide', 'hydrogen_sulfide']),
  gauge('ch4', 'Methane', 'ppm', 0, [-900, 1_000_000], ['ch4_ppm', 'methane']),
  gauge('hcho', 'Formaldehyde', 'ppb', 0, [-20, 10_000], ['hcho_ppb', 'ch2o', 'formaldehyde']),
  gauge('radon', 'Radon', 'Bq/m3', 0, [0, 1_000_000], ['radon_bq_m3', 'rn222']),
  gauge('noise', 'Noise', 'dB', 1, [0, 200], ['noise_db', 'sound', 'sound_level', 'sound_pressure', 'spl']),
]

const weather: readonly CatalogueEntry[] = [
  gauge('illuminance', 'Illuminance', 'lx', 0, [-10, 250_000], ['lux', 'light', 'light_level', 'light_lux']),
  gauge('solar_radiation', 'Solar radiation', 'W/m2', 0, [-50, 2000], ['irradiance', 'solar_irradiance', 'ghi']),
  gauge('relative_pressure', 'Relative pressure', 'hPa', 1, [800, 1100], ['sea_level_pressure']),
  gauge('par', 'Photosynthetic light', 'umol/m2/s', 0, [-50, 5000], ['ppfd']),
  gauge('uv_index', 'UV index', null, 1, [-1, 50], ['uv', 'uvi']),
  gauge('wind_speed', 'Wind speed', 'm/s', 1, [-1, 150], ['wind', 'windspeed', 'wind_speed_ms', 'wind_avg']),
  gauge('wind_gust', 'Wind gust', 'm/s', 1, [-1, 150], ['gust', 'gust_speed', 'windgust', 'wind_gust_speed']),
  ofKind(
    'direction',
    gauge(
      'wind_direction',
      'Wind direction',
      'deg',
      0,
      [0, 360],
      ['winddir', 'wind_dir', 'winddirection', 'wind_bearing', 'wind_direction_deg'],
    ),
  ),
  ofKind('rate', gauge('rain', 'Rain', 'mm', 1, [0, 1000], ['rainfall', 'rain_mm', 'precipitation'])),
  counter('rain_total', 'Rain in total', 'mm', 1, ['total_rain', 'totalrain', 'rain_counter', 'rain_total_mm']),
  gauge('rain_intensity', 'Rain intensity', 'mm/h', 1, [-10, 2000], ['rain_rate', 'rainrate', 'precipitation_rate']),
  gauge('snow_depth', 'Snow depth', 'cm', 0, [-20, 2000], ['snow', 'snow_height', 'snow_depth_cm']),
  gauge('cloud_cover', 'Cloud cover', '%', 0, [0, 100], ['clouds', 'cloudiness', 'cloud_coverage']),
  gauge('visibility', 'Visibility', 'm', 0, [0, 200_000], ['visibility_m']),
  counter('lightning_strikes', 'Lightning strikes', null, 0, ['lightning', 'lightning_count', 'strike_count']),
  gauge('lightning_distance', 'Distance of lightning', 'km', 0, [0, 100], ['strike_distance']),
]

const soilAndWater: readonly CatalogueEntry[] = [
  gauge('soil_moisture', 'Soil moisture', '%', 0, [-20, 100], ['soil_humidity', 'soilmoisture', 'vwc']),
  gauge('soil_temperature', 'Soil temperature', 'Cel', 1, [-60, 100], ['soil_temp', 'soiltemp', 'ground_temperature']),
  gauge('soil_conductivity', 'Soil conductivity', 'uS/cm', 0, [-90, 100_000], ['soil_ec']),
  gauge('leaf_wetness', 'Leaf wetness', '%', 0, [-2, 100], ['leafwetness']),
  gauge('water_temperature', 'Water temperature', 'Cel', 1, [-10, 150], ['water_temp', 'watertemp']),
  gauge('water_level', 'Water level', 'm', 2, [-100, 10_000], ['waterlevel', 'water_depth', 'river_level']),
  gauge('ph', 'pH', '[pH]', 2, [0, 14], ['p_h', 'water_ph', 'ph_value']),
  gauge('conductivity', 'Conductivity', 'uS/cm', 0, [-90, 1_000_000], ['ec', 'electrical_conductivity']),
  gauge('dissolved_oxygen', 'Dissolved oxygen', 'mg/L', 2, [-1, 100], ['do_mgl', 'do_mg_l', 'oxygen_dissolved']),
  gauge('turbidity', 'Turbidity', null, 1, [-5, 10_000], ['turbidity_ntu', 'ntu']),
  gauge('redox_potential', 'Redox potential', 'mV', 0, [-3000, 3000], ['orp', 'redox', 'orp_mv']),
  gauge('total_dissolved_solids', 'Dissolved solids', 'mg/L', 0, [-50, 100_000], ['tds']),
  gauge('flow_rate', 'Flow', 'L/min', 2, [-1_000_000, 1_000_000], ['flow', 'flowrate', 'water_flow']),
  counter('water_total', 'Water in total', 'm3', 3, ['water', 'water_meter', 'water_consumption']),
  counter('gas_total', 'Gas in total', 'm3', 3, ['gas', 'gas_meter', 'gas_consumption']),
]

const power: readonly CatalogueEntry[] = [
  gauge('voltage', 'Voltage', 'V', 1, [-1_000_000, 1_000_000], ['volts', 'volt', 'voltage_v']),
  gauge('current', 'Current', 'A', 2, [-1_000_000, 1_000_000], ['amps', 'amperage', 'current_a']),
  gauge('power', 'Power', 'W', 0, [-1e9, 1e9], ['watts', 'active_power', 'power_w']),
  gauge('apparent_power', 'Apparent power', 'V.A', 0, [-1e9, 1e9], ['apparent_power_va']),
  gauge('power_factor', 'Power factor', null, 2, [-1, 1], ['pf', 'cos_phi']),
  gauge('frequency', 'Frequency', 'Hz', 2, [0, 1e9], ['hz', 'mains_frequency', 'frequency_hz']),
  counter('energy', 'Energy', 'kW.h', 2, ['kwh', 'energy_kwh', 'energy_total', 'total_energy', 'energy_import']),
  counter('energy_returned', 'Energy returned', 'kW.h', 2, ['energy_export', 'energy_return', 'returned_energy']),
]

const things: readonly CatalogueEntry[] = [
  state('door', 'Door open', ['door_open', 'contact', 'door_contact', 'opening']),
  state('window', 'Window open', ['window_open', 'window_contact']),
  state('motion', 'Motion', ['motion_detected', 'pir', 'occupancy', 'presence']),
  state('pump', 'Pump on', ['pump_on', 'pump_state']),
  state('relay', 'Relay on', ['relay_on', 'relay_state', 'switch', 'switch_state']),
  state('valve', 'Valve open', ['valve_open', 'valve_state']),
  state('leak', 'Leak', ['water_leak', 'leak_detected']),
  state('smoke', 'Smoke', ['smoke_detected', 'smoke_alarm']),
  counter('people_in', 'People who came in', null, 0, ['people_count_in', 'entries']),
  gauge('people', 'People', null, 0, [0, 1_000_000], ['people_count', 'occupants']),
  gauge('weight', 'Weight', 'kg', 2, [-1_000_000, 1_000_000], ['mass', 'weight_kg']),
  gauge('distance', 'Distance', 'm', 3, [-1, 1_000_000], ['distance_m']),
  gauge('tilt', 'Tilt', 'deg', 1, [-180, 180], ['inclination']),
  gauge('acceleration', 'Acceleration', 'm/s2', 2, [-10_000, 10_000], ['accel']),
  gauge('rotation_speed', 'Speed of rotation', '/min', 0, [0, 1_000_000], ['rpm', 'fan_speed', 'fan_rpm']),
  gauge('surface_temperature', 'Surface temperature', 'Cel', 1, [-100, 2000], ['object_temperature', 'surface_temp']),
  gauge('dose_rate', 'Radiation', 'uSv/h', 2, [0, 1e7], ['radiation', 'usv_h', 'gamma_dose_rate']),
  gauge('rssi', 'Signal strength', 'dB[mW]', 0, [-200, 50], ['wifi_rssi', 'signal_strength', 'wifi_signal']),
  gauge('snr', 'Signal-to-noise ratio', 'dB', 1, [-100, 200], ['lora_snr', 'signal_noise_ratio']),
  gauge('uptime', 'Uptime', 's', 0, [0, null], ['uptime_s', 'uptime_seconds']),
]

export const catalogue: readonly CatalogueEntry[] = [...air, ...weather, ...soilAndWater, ...power, ...things]

const byName = new Map(catalogue.flatMap(entry => [entry.name, ...entry.aliases].map(name => [name, entry] as const)))

/** Finds an entry by its name or an alias. */
export function catalogueEntry(name: string): CatalogueEntry | undefined {
  return byName.get(name)
}
