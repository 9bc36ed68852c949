/** `barograph export`: what it writes is imported as the same readings again, and a part of it never looks whole. */

import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync, zstdDecompressSync } from 'node:zlib'
import t from 'tap'
import { barograph } from '../support/command-line.ts'
import { temporaryFolder } from '../support/databases.ts'
import { until } from '../support/processes.ts'
import { type Service, startService } from '../support/service.ts'

const folder = temporaryFolder(t)
const [origin, copy] = await Promise.all([startService(t), startService(t)])

async function run(service: Service, ...words: string[]) {
  const environment = { DATA_DIR: service.dataDirectory, PORT: new URL(service.url).port }
  return await barograph(words, { environment })
}

async function succeed(service: Service, ...words: string[]): Promise<string> {
  const { status, stdout, stderr } = await run(service, ...words)
  if (status !== 0) throw new Error(`${words.join(' ')}: ${stderr}`)
  return stdout
}

async function allVisible(service: Service): Promise<void> {
  await until('all is visible', async () => {
    const { body } = await service.admin('GET', '/status')
    return (body as { lag: { readings: number } }).lag.readings === 0
  })
}

const header = 'timestamp,device,temperature,humidity,pressure,battery_voltage,battery_percentage'
const written = [
  '2026-01-01T00:00:00.000000Z,porch,-0.1,,1013,,',
  '2026-01-01T00:00:00.000000Z,"attic, left",21.400000000000002,48,1013.25,3.3,99.5',
  '2026-01-01T00:00:00.123000Z,porch,1e-7,0.30000000000000004,300,,',
  '2026-01-01T00:00:00.123456Z,porch,5,100,1100,0.000001,0',
  '2026-01-01T00:00:00.123457Z,"Küche ""1""",,,999.9999999999999,,',
]

t.test('readings are written with all their digits, by range and device, plain and compressed', async t => {
  for (const name of ['porch', 'attic, left', 'Küche "1"']) await origin.addDevice(name)
  await origin.import(`${header}\n${written.toReversed().join('\n')}\n`)
  await allVisible(origin)
  const shown = await succeed(origin, 'export')
  t.equal(shown, `${[header, ...written].join('\n')}\n`)
  t.equal(await succeed(origin, 'export', '--to', '9999-12-31'), shown)
  t.equal(await succeed(origin, 'export', '--from', '9999-01-01'), `${header}\n`)
  const packed = join(folder, 'all.csv.gz')
  await succeed(origin, 'export', '--output', packed)
  t.equal(gunzipSync(readFileSync(packed)).toString(), shown)
  const parquet = join(folder, 'all.parquet')
  await succeed(origin, 'export', '--output', parquet)
  const file = readFileSync(parquet)
  t.strictSame([file.toString('latin1', 0, 4), file.toString('latin1', file.length - 4)], ['PAR1', 'PAR1'])
  const lines = join(folder, 'porch.ndjson.zst')
  const range = ['--from', '2026-01-01T00:00:00.000001Z', '--to', '2026-01-01T01:00:00.123456+01:00']
  await succeed(origin, 'export', '--device', 'porch', ...range, '--output', lines)
  t.equal(
    zstdDecompressSync(readFileSync(lines)).toString(),
    '{"timestamp":"2026-01-01T00:00:00.123000Z","device":"porch","temperature":1e-7,"humidity":0.30000000000000004,"pressure":300}\n',
  )
  t.match(await run(origin, 'export', '--device', 'cellar'), { status: 1, stderr: /device unknown/ })
  t.match(await run(origin, 'export', '--from', 'noon'), { status: 1, stderr: /from: must be an ISO 8601 time/ })
  const { body } = await origin.admin('GET', '/audit?page=1')
  t.match((body as { entries: object[] }).entries[0], {
    action: 'readings.export',
    actor: 'local admin token',
    details: { format: 'ndjson', devices: 'porch', from: range[1], to: range[3] },
  })
})

t.test('an import of an export gives the same readings, also those that the service stamped', async t => {
  const password = await origin.addDevice('live')
  for (let second = 0; second < 3; second++) {
    await origin.put('live', password, { device: 'live', temperature: second, humidity: 50, pressure: 1000 })
  }
  await allVisible(origin)
  const whole = await succeed(origin, 'export')
  t.equal(whole.split('\n').length, 1 + written.length + 3 + 1)
  for (const format of ['csv', 'ndjson']) {
    const file = join(folder, `round.${format}`)
    await succeed(origin, 'export', '--output', file)
    for (const service of [origin, copy]) {
      await succeed(service, 'import', file, ...(service === copy ? ['--create-devices'] : []))
      await allVisible(service)
      t.equal(await succeed(service, 'export'), whole, `${format} into ${service === copy ? 'another' : 'the same'}`)
    }
  }
})

t.test('when the service is killed in the middle there is an error and no file', async t => {
  const many = Array.from({ length: 400_000 }, (_, index) => {
    return `${new Date(Date.UTC(2025, 0) + index * 1000).toISOString()},porch,20,50,1000,,\n`
  })
  await origin.import(`${header}\n${many.join('')}`)
  await allVisible(origin)
  const file = join(folder, 'cut.csv')
  writeFileSync(file, 'older')
  const running = run(origin, 'export', '--output', file)
  await until('a part is there', () => existsSync(`${file}.part`) && statSync(`${file}.part`).size > 0)
  await origin.killAll()
  t.match(await running, { status: 1, stderr: /the export was cut off/ })
  t.notOk(existsSync(`${file}.part`))
  t.equal(readFileSync(file, 'utf8'), 'older', 'what was there before stays')
})
