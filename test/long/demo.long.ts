/** The whole demo: its history, the months of its stations, and a second run. Its first minute: `test/cli/demo/demo.test.ts`. */

import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import t, { type Test } from 'tap'
import { temporaryFolder } from '../support/databases.ts'
import { commandsIn, type Demo, json, runCommands, startDemo, stopDemo } from '../support/demo.ts'
import { until } from '../support/processes.ts'

t.test('a second run continues the history and live readings of the first one', async t => {
  const dataDirectory = join(temporaryFolder(t), 'data')
  const first = await startDemo(t, dataDirectory)
  // Lines of the service's log may come between these.
  t.match(first.output(), '8 devices were registered.')
  t.equal([...first.output().matchAll(/brought up to date/g)].length, 1, 'one line for all migrations')
  t.strictSame(first.output().match(/^.*(?:Sign in as|setup).*$/gm)?.length, 1, 'one way in')
  const history = Number(/(\d+) readings of history/.exec(first.output())?.[1])
  // Two records of a year of hours, and 90 days of every fifth minute, less the greenhouse's silence.
  const whole = 2 * 8760 + 6 * 90 * 288
  t.ok(history > whole - 40 && history <= whole, `${history} readings are there of all eight`)
  t.match(first.output(), '400 content files were imported')
  t.match(await json(`${first.url}/api/v1/contentfiles/?limit=1`), { count: Number, results: [{ run_id: Number }] })
  const yesterday = new Date(Date.now() - 86_400_000).toISOString().slice(0, 10)
  const day = await json(`${first.url}/api/data/day/greensboro/${yesterday}`)
  t.equal((day['pressure'] as unknown[]).length, 24, 'an hourly record has a value for each hour of yesterday')
  t.match(await json(`${first.url}/api/device/mountain-hut`), { location_short: 'Mountain hut', battery: true })
  const today = () => json(`${first.url}/api/data/day/kitchen/${new Date().toISOString().slice(0, 10)}`)
  await until('a live reading shows', async () => ((await today())['humidity'] as unknown[]).length > 0)
  const latest = await json(`${first.url}/api/latest/all/72`)
  t.equal((latest['data'] as unknown[]).length, 8)

  await showsFindings(t, first)

  const token = readFileSync(join(dataDirectory, 'secrets', 'admin-token'), 'utf8').trim()
  const rulesOf = async ({ url }: { url: string }) => {
    const response = await fetch(`${url}/api/alert-rules`, { headers: { authorization: `Bearer ${token}` } })
    const { rules } = (await response.json()) as { rules: { name: string; channels: number[] }[] }
    return rules.map(({ name, channels }) => [name, channels.length])
  }
  const rules = [
    ['The greenhouse is silent', 1],
    ['A battery runs low', 1],
    ['The freezer is too warm', 1],
  ]
  t.strictSame(await rulesOf(first), rules)

  const key = await showsStations(t, first, dataDirectory)

  await stopDemo(t, first)
  for (const file of ['state.json', 'api-key']) {
    t.equal(statSync(join(dataDirectory, 'demo', file)).mode & 0o777, 0o600, file)
  }

  const second = await startDemo(t, dataDirectory)
  const imported = /(\d+) readings of history/.exec(second.output())?.[1]
  t.ok(Number(imported) < 1000, `${imported} readings fill the gap`)
  t.match(second.output(), /The devices of the last run go on/)
  t.match(second.output(), /^0 content files were imported/m)
  t.match(second.output(), 'The air-quality stations of the last run go on.')
  t.strictSame(await rulesOf(second), rules, 'and the rules')
  await second.caughtUp()
  const points = /(\d+) data points of DEL-01 are stored/.exec(second.output())?.[1]
  t.ok(Number(points) < 10_000, `${points} data points fill the gap`)
  t.match(await json(`${second.url}/api/v1.0/device/`, key), { meta: { total: 2 } }, 'the key is the same')
  t.match(await (await fetch(`${second.url}/metrics`)).text(), /^barograph_devices 8$/m)
  await stopDemo(t, second)
})

/** Findings show the stuck sensor, the silent device and the low battery, and none for other devices. */
async function showsFindings(t: Test, { url }: { url: string }): Promise<void> {
  const codesOf = async (name: string) => {
    const { findings } = (await json(`${url}/api/stats_data/${name}`)) as { findings: { code: string }[] }
    return findings.map(({ code }) => code)
  }
  t.ok((await codesOf('roof')).includes('stuck'))
  t.ok((await codesOf('greenhouse')).includes('silent'))
  for (const name of ['alamosa', 'sand-point', 'greensboro', 'kitchen', 'freezer']) {
    const codes = await codesOf(name)
    t.strictSame(
      codes.filter(code => ['stuck', 'silent', 'outage'].includes(code)),
      [],
      name,
    )
  }
  const { batteries } = (await json(`${url}/api/fleet/insights`)) as { batteries: { device: string }[] }
  t.match(batteries, [{ device: 'mountain-hut' }])
  t.equal(batteries.length, 1)
}

async function showsStations(t: Test, demo: Demo, dataDirectory: string): Promise<string> {
  await demo.caughtUp()
  const key = readFileSync(join(dataDirectory, 'demo', 'api-key'), 'utf8').trim()
  const data = (sn: string, query: string) => json(`${demo.url}/api/v1.0/device/${sn}/data/?${query}`, key)
  for (const sn of ['DEL-01', 'NBO-02']) {
    const total = async () => (await data(sn, 'per_page=1'))['meta'] as { total: number }
    // 43,200 minutes of eight parameters, less missing ones.
    await until(`the month of ${sn} is there`, async () => (await total()).total > 300_000)
  }
  const newest = async () => (await data('DEL-01', 'sort=timestamp,desc&per_page=1'))['data']
  const before = await newest()
  await until('a live data point comes', async () => !isDeepStrictEqual(await newest(), before))
  // A minute after midnight, the current day has no points yet.
  const hourAgo = new Date(Date.now() - 3_600_000).toISOString()
  const commands = commandsIn('docs/air-quality.md', 'Stations of the demo')
    .join('')
    .replace('$(date -u +%F)', hourAgo.slice(0, 10))
  const [devices = '', newestPoints = '', page = '', csv = '', ...others] = await runCommands(demo, commands)
  t.strictSame(others, [])
  t.match(JSON.parse(devices), { meta: { total: 2 }, data: [{ sn: 'DEL-01' }, { sn: 'NBO-02' }] })
  t.match(JSON.parse(newestPoints), { sn: 'DEL-01', timestamp: String })
  const { data: rows } = JSON.parse(page) as { data: { parameter: string; value_1min: number }[] }
  t.equal(rows.length, 5)
  t.ok(rows.every(({ parameter, value_1min }) => parameter === 'pm25' && value_1min > 50))
  t.match(csv, /^id,sn,parameter,[^\n]*\r\n\d+,NBO-02,/)
  return key
}
