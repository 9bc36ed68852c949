/** Lines of Home Assistant to the whole service, by both versions of its API: devices, metrics, and what replaces what. */

import tap from 'tap'
import { askQuestdb } from '../support/ask-questdb.ts'
import { until } from '../support/processes.ts'
import { startService } from '../support/service.ts'

const environment = { LINE_PROTOCOL_PRESET: 'home-assistant' }
const service = await startService(tap, { environment })
const { url, dataDirectory } = service
const email = 'ada@example.com'
const made = await service.admin('POST', '/accounts', { email, name: 'Ada', role: 'user', password: 'long enough' })
await service.admin('PATCH', `/accounts/${(made.body as { id: number }).id}`, { email_verified: true })
const asked = { account: email, name: 'home', scopes: ['ingest'], create_devices: true }
const { key } = (await service.admin('POST', '/keys', asked)).body as { key: string }

const startMs = Math.floor(Date.now() / 1000) * 1000 - 600_000
/** Nanoseconds. */
const at = (microseconds: number) => `${startMs * 1000 + microseconds}000`

/** As the client for InfluxDB 1.x sends them, which sorts tags and fields. */
function v1(lines: readonly string[]): Promise<Response> {
  const authorization = `Basic ${Buffer.from(`homeassistant:${key}`).toString('base64')}`
  const headers = { authorization, 'content-type': 'application/octet-stream', 'user-agent': 'python-requests/2.32.3' }
  return fetch(`${url}/write?db=home_assistant`, { method: 'POST', headers, body: `${lines.join('\n')}\n` })
}

/** As that for InfluxDB 2.x does. */
function v2(lines: readonly string[]): Promise<Response> {
  const headers = { authorization: `Token ${key}`, 'content-type': 'text/plain; charset=utf-8' }
  const query = 'org=home&bucket=home_assistant&precision=ns'
  return fetch(`${url}/api/v2/write?${query}`, { method: 'POST', headers, body: lines.join('\n') })
}

const attributes = (name: string, device: string) =>
  `device_class_str="${device}",friendly_name_str="${name}",state_class_str="measurement"`
const temperature = (value: string, time: string) =>
  `°C,domain=sensor,entity_id=porch_temperature ${attributes('Porch Temperature', 'temperature')},value=${value} ${time}`
const humidity = (value: string, time: string) =>
  `%,domain=sensor,entity_id=porch_humidity ${attributes('Porch Humidity', 'humidity')},value=${value} ${time}`
const co2 = (value: string, time: string) =>
  `ppm,domain=sensor,entity_id=porch_co2 ${attributes('Porch CO2', 'carbon_dioxide')},value=${value} ${time}`
const door = (state: string, value: string, time: string) =>
  `binary_sensor.porch_door,domain=binary_sensor,entity_id=porch_door device_class_str="door",friendly_name_str="Porch \\"Door\\"",state="${state}",value=${value} ${time}`

interface Reading {
  ts: number
  [metric: string]: number
}

async function readings(device: string): Promise<Reading[]> {
  const response = await fetch(`${url}/api/readings/${device}?start=${startMs}&end=${startMs + 3_600_000}`)
  return response.status === 200 ? ((await response.json()) as Reading[]) : []
}

async function becomes(t: Tap, device: string, expected: readonly object[]): Promise<void> {
  await until('the readings are there', async () => {
    return JSON.stringify(await readings(device)) === JSON.stringify(expected)
  }).catch(() => undefined)
  t.strictSame(await readings(device), expected)
}
type Tap = { strictSame(found: unknown, wanted: unknown): void }

tap.test('what the integration asks first is answered as it expects', async t => {
  // It writes nothing, and takes a 400 for a connection that is good.
  t.equal((await v1([])).status, 204)
  t.equal((await v2([''])).status, 400)
  t.equal((await fetch(`${url}/ping`)).status, 204)
})

tap.test('entities become devices and metrics, with units and states in words', async t => {
  const lines = [
    temperature('21.4', at(10)),
    humidity('48.0', at(250)),
    co2('640.0', at(250)),
    door('on', '1.0', at(900)),
  ]
  t.equal((await v1(lines)).status, 204)
  await becomes(t, 'porch', [{ ts: startMs, temperature: 21.4, humidity: 48, co2: 640, door: 1 }])
  const { metrics } = (await service.admin('GET', '/metrics')).body as { metrics: { name: string; kind: string }[] }
  t.match(
    metrics.slice(5).map(({ name, kind }) => [name, kind]),
    [
      ['co2', 'gauge'],
      ['door', 'state'],
    ],
  )
  await until('the state of the fleet is loaded', async () => (await fetch(`${url}/api/latest/porch`)).status === 200)
  const latest = (await (await fetch(`${url}/api/latest/porch`)).json()) as object
  t.match(JSON.stringify(latest), /21\.4.*48.*640/, 'the latest value of each, whichever reading it was in')
})

tap.test('a later request of the same millisecond erases nothing, and one sent again is stored once', async t => {
  const first = [temperature('20', at(1_000_001))]
  const second = [humidity('40', at(1_000_140)), co2('600', at(1_000_141))]
  for (const lines of [first, second, first, second]) t.equal((await v2(lines)).status, 204)
  const rows = async () =>
    await askQuestdb(
      dataDirectory,
      `SELECT ts, temperature, humidity FROM readings WHERE ts >= ${startMs * 1000 + 1_000_000} ORDER BY ts`,
    )
  await until('both are there', async () => (await rows()).length === 2)
  t.strictSame(
    (await rows()).map(([ts, ...values]) => [String(ts).slice(-7), ...values]),
    [
      ['000001Z', 20, null],
      ['000140Z', null, 40],
    ],
  )
  // Values of a reading may be visible after it.
  await until('the further value is there', async () => (await readings('porch')).at(-1)?.['co2'] === 600)
  t.match((await readings('porch')).slice(-2), [{ temperature: 20 }, { humidity: 40, co2: 600 }])
})

tap.test('what is no metric, or in no such unit, is refused with its reason, and the rest is stored', async t => {
  const response = await v1([
    temperature('22', at(2_000_000)),
    `EUR/kWh,domain=sensor,entity_id=grid_energy value=0.3 ${at(2_000_000)}`,
    `sensor.washing_machine,domain=sensor,entity_id=washing_machine value=3 ${at(2_000_000)}`,
    `weather.home,domain=weather,entity_id=home humidity=40,state="sunny",temperature=21 ${at(2_000_000)}`,
  ])
  t.equal(response.status, 400)
  const { error } = (await response.json()) as { error: string }
  t.match(
    error,
    /line 2: entity sensor\.grid_energy: the unit "EUR\/kWh" is not known; line 3: entity sensor\.washing_machine is no metric: add the ending of its name .* dropped=2/,
  )
  await until('the good one is there', async () => (await readings('porch')).at(-1)?.['temperature'] === 22)
  const { rejections } = (await service.admin('GET', '/rejections?way=line_protocol')).body as { rejections: object[] }
  t.match(rejections.slice(0, 2), [{ reason: /washing_machine is no metric/ }, { reason: /EUR\/kWh/ }])
  t.equal((await service.admin('GET', '/devices/home')).status, 404, 'a state in words makes no device')
})

tap.test('a value without a unit is stored, and the list of rejections names the unit that is assumed', async t => {
  const bare = (value: number, time: string) =>
    `units,domain=sensor,entity_id=attic_temperature friendly_name_str="Attic",value=${value} ${time}`
  for (const second of [5, 6]) t.equal((await v2([bare(second, at(second * 1_000_000))])).status, 204)
  const { rejections } = (await service.admin('GET', '/rejections?device=attic')).body as { rejections: object[] }
  t.match(rejections, [
    { device: 'attic', way: 'line_protocol', reason: /^temperature has no unit: °C is assumed/, count: 2 },
  ])
  t.equal(rejections.length, 1)
})

tap.test('Telegraf beside it names its device by the tag host', async t => {
  const line = `cpu,cpu=cpu-total,host=pi temperature=48.5,usage_idle=93.5 ${at(3_000_000)}`
  t.equal((await v2([line])).status, 204)
  await becomes(t, 'pi', [{ ts: startMs + 3000, temperature: 48.5, usage_idle: 93.5 }])
})
