/** The file of `barograph export` is imported as the same readings, and a part of it never looks complete. */

import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync, zstdDecompressSync } from 'node:zlib'
import t from 'tap'
import { startAnswering } from '../support/answering-server.ts'
import { barograph } from '../support/command-line.ts'
import { temporaryFolder } from '../support/databases.ts'
import { sharedService } from '../support/service.ts'

const folder = temporaryFolder(t)
const service = await sharedService(t)
const environment = { DATA_DIR: service.dataDirectory, PORT: new URL(service.url).port }
const run = (...words: string[]) => barograph(words, { environment })

async function succeed(...words: string[]): Promise<string> {
  const { status, stdout, stderr } = await run(...words)
  if (status !== 0) throw new Error(`${words.join(' ')}: ${stderr}`)
  return stdout
}

const [porch, attic, kitchen] = ['export porch', 'export attic, left', 'Export Küche "1"'] as const
const own = [porch, attic, kitchen].flatMap(name => ['--device', name])
const header = 'timestamp,device,temperature,humidity,pressure,battery_voltage,battery_percentage'
const written = [
  `2026-01-01T00:00:00.000000Z,${porch},-0.1,,1013,,`,
  `2026-01-01T00:00:00.000000Z,"${attic}",21.400000000000002,48,1013.25,3.3,99.5`,
  `2026-01-01T00:00:00.123000Z,${porch},1e-7,0.30000000000000004,300,,`,
  `2026-01-01T00:00:00.123456Z,${porch},5,100,1100,0.000001,0`,
  '2026-01-01T00:00:00.123457Z,"Export Küche ""1""",,,999.9999999999999,,',
]

t.test('readings are written with all their digits, by range and device, plain and compressed', async t => {
  for (const name of [porch, attic, kitchen]) await service.addDevice(name)
  await service.import(`${header}\n${written.toReversed().join('\n')}\n`)
  await service.allShown()
  const shown = await succeed('export', ...own)
  t.equal(shown, `${[header, ...written].join('\n')}\n`)
  t.equal(await succeed('export', '--to', '9999-12-31', ...own), shown)
  t.equal(await succeed('export', '--from', '9999-01-01', ...own), `${header}\n`)
  const packed = join(folder, 'all.csv.gz')
  await succeed('export', '--output', packed, ...own)
  t.equal(gunzipSync(readFileSync(packed)).toString(), shown)
  const parquet = join(folder, 'all.parquet')
  await succeed('export', '--output', parquet, ...own)
  const file = readFileSync(parquet)
  t.strictSame([file.toString('latin1', 0, 4), file.toString('latin1', file.length - 4)], ['PAR1', 'PAR1'])
  const lines = join(folder, 'porch.ndjson.zst')
  const range = ['--from', '2026-01-01T00:00:00.000001Z', '--to', '2026-01-01T01:00:00.123456+01:00']
  await succeed('export', '--device', porch, ...range, '--output', lines)
  t.equal(
    zstdDecompressSync(readFileSync(lines)).toString(),
    `{"timestamp":"2026-01-01T00:00:00.123000Z","device":"${porch}","temperature":1e-7,"humidity":0.30000000000000004,"pressure":300}\n`,
  )
  t.match(await run('export', '--device', 'export cellar'), { status: 1, stderr: /device unknown/ })
  t.match(await run('export', '--from', 'noon'), { status: 1, stderr: /from: must be an ISO 8601 time/ })
  const { body } = await service.admin('GET', '/audit?page=1')
  t.match((body as { entries: object[] }).entries[0], {
    action: 'readings.export',
    actor: 'local admin token',
    details: { format: 'ndjson', devices: porch, from: range[1], to: range[3] },
  })
})

t.test('an import of an export gives the same readings, also those that the service stamped', async t => {
  const password = await service.addDevice('export live')
  for (let second = 0; second < 3; second++) {
    const reading = { device: 'export live', temperature: second, humidity: 50, pressure: 1000 }
    await service.put('export live', password, reading)
  }
  await service.allShown()
  const all = [...own, '--device', 'export live']
  const whole = await succeed('export', ...all)
  t.equal(whole.split('\n').length, 1 + written.length + 3 + 1)
  for (const format of ['csv', 'ndjson']) {
    const file = join(folder, `round.${format}`)
    await succeed('export', '--output', file, ...all)
    await succeed('import', file)
    await service.allShown()
    t.equal(await succeed('export', ...all), whole, `${format} into the same devices`)
    const renamed = (text: string) => text.replaceAll(/export |Export /g, word => `${format} ${word}`)
    writeFileSync(file, renamed(readFileSync(file, 'utf8')))
    await succeed('import', file, '--create-devices')
    await service.allShown()
    const others = all.map(word => (word === '--device' ? word : renamed(word)))
    t.equal(await succeed('export', ...others), renamed(whole), `${format} into others`)
  }
})

t.test('when the answer is cut off in the middle there is an error and no file', async t => {
  const { url } = await startAnswering(t, (_request, _index, response) => {
    response.writeHead(200, { 'content-type': 'text/csv' }).write(`${header}\n`, () => response.destroy())
    return undefined
  })
  const file = join(folder, 'cut.csv')
  writeFileSync(file, 'older')
  t.match(await run('--url', url, 'export', '--output', file), { status: 1, stderr: /the export was cut off/ })
  t.notOk(existsSync(`${file}.part`))
  t.equal(readFileSync(file, 'utf8'), 'older', 'what was there before stays')
})
