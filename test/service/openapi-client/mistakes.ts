/** Mistakes that the types of the generated client refuse: a directive above a line without an error is an error itself. */

import {
  adminAddDevices,
  adminRemoveDevice,
  logBatch,
  logReading,
  type NewReading,
  readDay,
  readFleet,
  readLatestOfDevice,
  readStatistics,
} from './client.ts'

const reading: NewReading = { device: 'porch', temperature: 21, humidity: 48, pressure: 1013 }

// Paths and operations.
// @ts-expect-error: an unknown operation.
await (await import('./client.ts')).readHumidity('porch')

// @ts-expect-error: the day is missing.
await readDay('porch')
// @ts-expect-error: devices are removed by their names.
await adminRemoveDevice({ name: 'porch' })

// Requests.
// @ts-expect-error: the device is missing.
await logReading({ temperature: 21, humidity: 48 })
// @ts-expect-error: a value is a text.
await logReading({ ...reading, temperature: '21' })
// @ts-expect-error: no field has this name.
await logReading({ device: 'porch', temperature: 21, humidity: 48, presure: 1013 })
// @ts-expect-error: a batch is an array.
await logBatch(reading)
// @ts-expect-error: a device has no such field.
await adminAddDevices({ name: 'porch', colour: 'red' })
// @ts-expect-error: an unknown order.
await readFleet({ order: 'size' })
// @ts-expect-error: steps are some numbers of seconds.
await readStatistics('porch', { step: 61 })

// Responses.
const answer = await readLatestOfDevice('porch')
// @ts-expect-error: it may be a refusal, which has no values.
answer.data.values
if (answer.status === 200) {
  // @ts-expect-error: no metric has this name.
  answer.data.values.wind
  // @ts-expect-error: it may not have been measured.
  answer.data.values.humidity.v
}
// @ts-expect-error: no answer has this status.
if (answer.status === 418) process.exit()
const fleet = await readFleet()
// @ts-expect-error: no state has this name.
if (fleet.status === 200) fleet.data.counts.asleep
const statistics = await readStatistics('porch')
// @ts-expect-error: an unknown quantity.
if (statistics.status === 200) statistics.data.aggregates.wind
