/** Families of gateways and networks of radio sensors. docs/sensors.md names the source of each. */

import type { Family } from './family.ts'

/** Bluetooth by OpenMQTTGateway and Theengs Gateway. */
export const theengs: Family = {
  name: 'theengs',
  topics: ['**/BTtoMQTT/{device}'],
  noReadings: ['**/BTtoMQTT/config', '**/BTtoMQTT/undecoded'],
  device: ['{/id}', '{device}'],
  time: ['/time', '/timestamp'],
  fields: [
    ['tempc', 'temperature'],
    ['tempf', null],
    ['tempc#', 'temperature_#'],
    ['tempf#', null],
    ['hum', 'humidity'],
    ['pres', 'pressure'],
    ['batt', 'battery_percentage'],
    ['volt', 'battery_voltage'],
    ['moi', 'soil_moisture'],
    ['fer', 'soil_conductivity'],
    ['lux', 'illuminance'],
    ['open', 'door'],
    ['distance', null],
    ['mac_type', null],
    ['adv_type', null],
    ['txpower', null],
    ['unixtime', null],
  ],
}

/** Covers OpenMQTTGateway, which has the same fields. Times without a zone are ignored. */
export const rtl433: Family = {
  name: 'rtl_433',
  topics: ['**/events', '**/RTL_433toMQTT', '**/RTL_433toMQTT/**'],
  needs: [['/model']],
  device: ['{/model}-{/channel}-{/id}', '{/model}-{/id}', '{/model}-{/channel}', '{/model}'],
  time: ['/time'],
  fields: [
    ['temperature_C', 'temperature'],
    ['temperature_F', 'temperature', '°F'],
    ['temperature_#_C', 'temperature_#'],
    ['temperature_#_F', 'temperature_#', '°F>°C'],
    ['pressure_hPa', 'pressure'],
    ['pressure_kPa', 'pressure', 'kPa'],
    ['pressure_PSI', 'pressure', 'psi'],
    ['wind_avg_m_s', 'wind_speed'],
    ['wind_avg_km_h', 'wind_speed', 'km/h'],
    ['wind_avg_mi_h', 'wind_speed', 'mph'],
    ['wind_max_m_s', 'wind_gust'],
    ['wind_max_km_h', 'wind_gust', 'km/h'],
    ['wind_max_mi_h', 'wind_gust', 'mph'],
    ['wind_dir_deg', 'wind_direction'],
    ['rain_mm', 'rain_total'],
    ['rain_in', 'rain_total', 'in'],
    ['rain_rate_mm_h', 'rain_intensity'],
    ['rain_rate_in_h', 'rain_intensity', 'in/h'],
    ['light_lux', 'illuminance'],
    ['light_klx', 'illuminance', 'klx'],
    ['moisture', 'soil_moisture'],
    ['pm2_5_ug_m3', 'pm25'],
    ['pm10_ug_m3', 'pm10'],
    ['co2_ppm', 'co2'],
    ['storm_dist_km', 'lightning_distance'],
    ['depth_cm', 'distance', 'cm'],
    ['battery_V', 'battery_voltage'],
    ['battery_mV', 'battery_voltage', 'mV'],
    // Ranges from 0 (empty) to 1.
    ['battery_ok', 'battery_percentage', 'ratio'],
    ['id', null],
    ['channel', null],
    ['protocol', null],
    ['subtype', null],
    ['mod', null],
    // Fields of the radio are not measurements.
    ['noise', null],
    ['freq*', null],
  ],
}

export const thingsStack: Family = {
  name: 'the-things-stack',
  topics: ['v3/+/devices/+/up'],
  needs: [
    ['/uplink_message'],
    [
      '/uplink_message/decoded_payload',
      'the uplink has no decoded_payload: add a payload formatter to the application',
    ],
  ],
  device: ['{/end_device_ids/device_id}', '{/end_device_ids/dev_eui}'],
  time: ['/uplink_message/rx_metadata/0/received_at', '/uplink_message/received_at', '/received_at'],
  values: ['/uplink_message/decoded_payload'],
  also: [
    ['/uplink_message/rx_metadata/0/rssi', 'rssi'],
    ['/uplink_message/rx_metadata/0/snr', 'snr'],
  ],
}

export const chirpstack: Family = {
  name: 'chirpstack',
  topics: ['**/device/+/event/up', '**/device/+/event/status'],
  // Joins, acknowledgements and other events have neither.
  split: message => (isOfDevice(message.body) ? [message] : []),
  device: ['{/deviceInfo/deviceName}', '{/deviceInfo/devEui}'],
  time: ['/rxInfo/0/gwTime', '/time'],
  values: ['/object'],
  also: [
    ['/rxInfo/0/rssi', 'rssi'],
    ['/rxInfo/0/snr', 'snr'],
    ['/batteryLevel', 'battery_percentage'],
  ],
}

/** An uplink with the values of a codec, or the battery of a status, which is 0 where the device does not know it. */
function isOfDevice(body: unknown): boolean {
  if (typeof body !== 'object' || body === null) return false
  const { batteryLevelUnavailable, externalPowerSource } = body as Record<string, unknown>
  const hasBattery = batteryLevelUnavailable !== true && externalPowerSource !== true
  return 'object' in body || ('batteryLevel' in body && hasBattery)
}
