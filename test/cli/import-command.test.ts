/** `barograph import`, from files to responses of the API. */

import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import t, { type Test } from 'tap'
import { startAnswering } from '../support/answering-server.ts'
import { barograph } from '../support/command-line.ts'
import { temporaryFolder } from '../support/databases.ts'
import { sharedService } from '../support/service.ts'

const header = 'timestamp,device,temperature,humidity,pressure\n'

const service = await sharedService(t)
const tokenFile = join(service.dataDirectory, 'secrets', 'admin-token')
const runImport = (url: string, args: string[], stdin = '') =>
  barograph(['--url', url, '--token-file', tokenFile, 'import', ...args], { stdin })
const folder = temporaryFolder(t)
const demoFolder = new URL('../../cli/demo/data/', import.meta.url).pathname
/** The files of the demo, of devices with names of this test. */
const dataFolder = temporaryFolder(t)
for (const name of ['alamosa-minutes.csv', 'greensboro-hours.csv', 'sand-point-hours.csv']) {
  const text = readFileSync(join(demoFolder, name), 'utf8')
  writeFileSync(join(dataFolder, name), text.replaceAll(/,(alamosa|greensboro|sand-point),/g, ',import_$1,'))
}
const run = (args: string[], input?: string) => runImport(service.url, args, input)
async function day(device: string, date: string) {
  const response = await fetch(`${service.url}/api/data/day/${device}/${date}`)
  return (await response.json()) as Record<string, { d: string; v: number }[]>
}

t.test('a line of an unknown device is rejected and can be found again', async t => {
  const rejects = join(folder, 'rejects.csv')
  const file = join(folder, 'mixed.csv')
  const lines = ['2026-01-01T00:00:00Z,import_attic,1,2,1000', '"a ""quoted"" line', '', 'x,import_attic,1,2,1000']
  writeFileSync(file, `${header}${lines.join('\r\n')}\r\n`)
  const { stdout, status } = await run([file, '--rejects', rejects])
  t.equal(status, 3)
  t.match(stdout, /stored 0 readings, rejected 3/)
  t.match(stdout, /mixed\.csv:2: import_attic: there is no device/)
  t.match(stdout, /use --create-devices/)
  t.strictSame(readFileSync(rejects, 'utf8').split('\n'), [
    'file,line,code,reason,text',
    `${file},2,DEVICE_UNKNOWN,there is no device of this name,"2026-01-01T00:00:00Z,import_attic,1,2,1000"`,
    `${file},3,LINE_MALFORMED,has quotes that do not match,"""a """"quoted"""" line"`,
    `${file},5,READING_INVALID,"timestamp must be ISO 8601 with a zone, or an epoch in s, ms, µs or ns","x,import_attic,1,2,1000"`,
    '',
  ])
})

t.test('a foreign file is mapped, stored, and reported by its own line numbers', async t => {
  const rejects = join(folder, 'foreign-rejects.csv')
  const file = join(folder, 'ecowitt.csv')
  const lines = ['2026-01-01 00:00,50.0,40,29.53', '2026-01-01 00:05,5e9,40,29.53', '2026-01-01 00:10,x,40,29.53']
  writeFileSync(file, `Time,Outdoor Temperature(℉),Outdoor Humidity(%),ABS Pressure(inHg)\n${lines.join('\n')}\n`)
  const words = ['--preset', 'ecowitt', '--map', 'device==import_mapped', '--zone', 'Europe/Zurich', '--create-devices']
  const { stdout, status } = await run([file, ...words, '--rejects', rejects])
  t.equal(status, 3)
  t.match(stdout, /stored 2 readings, rejected 1/)
  t.match(
    stdout,
    /stored 1 of the readings without values that are out of range:\n {2}.*ecowitt\.csv:3: import_mapped: temperature/,
  )
  t.match(stdout, /ecowitt\.csv:4: temperature is not a number: x/)
  t.match(readFileSync(rejects, 'utf8'), `${file},4,LINE_MALFORMED,temperature is not a number: x,"${lines[2]}"`)
  await service.allShown()
  const pressure = ['23:00', '23:05'].map(time => ({ d: `2025-12-31 ${time}`, v: 1000.000573 }))
  t.match(await day('import_mapped', '2025-12-31'), { temperature: [{ d: '2025-12-31 23:00', v: 10 }], pressure })
})

t.test('--create-devices creates the devices of the real files with all readings', async t => {
  const packed = join(folder, 'greensboro.csv.gz')
  writeFileSync(packed, gzipSync(readFileSync(join(dataFolder, 'greensboro-hours.csv'))))
  const files = [join(dataFolder, 'alamosa-minutes.csv'), packed, '-']
  const input = readFileSync(join(dataFolder, 'sand-point-hours.csv'), 'utf8')
  const { stdout, status } = await run([...files, '--create-devices', '--json'], input)
  t.equal(status, 0)
  const result = JSON.parse(stdout)
  t.match(result, { complete: true, accepted: 1440 + 8760 + 8760, rejected: 0, rejects: [], rejects_truncated: false })
  t.match(result.files, [{ accepted: 1440 }, { file: packed, accepted: 8760 }, { file: '-', accepted: 8760 }])
  const names = result.created.map((made: { device: string }) => made.device)
  t.strictSame(names, ['import_alamosa', 'import_greensboro', 'import_sand-point'])
  const { device, password } = result.created[0]
  const live = { device, temperature: 1, humidity: 2, pressure: 1000 }
  t.equal((await service.put(device, password, live)).status, 200, 'the password is the real one')

  await service.allShown()
  const alamosa = await day('import_alamosa', '2016-01-01')
  t.strictSame([alamosa['temperature']?.length, alamosa['pressure']?.[0]], [1440, { d: '2016-01-01 00:00', v: 773.5 }])
  t.equal((await day('import_greensboro', '2025-07-04'))['humidity']?.length, 24)
})

t.test('--passwords keeps them in a new file of the owner alone', async t => {
  const passwords = join(folder, 'passwords.csv')
  const values = { temperature: 1, humidity: 2, pressure: null }
  const line = { timestamp: '2026-01-01T00:00:00Z', device: 'import büro "1"', ...values }
  const args = ['-', '--create-devices', '--passwords', passwords]
  const { stdout, status } = await run(args, JSON.stringify(line))
  t.equal(status, 0)
  t.match(stdout, /added 1 devices; their passwords are in/)
  t.equal(statSync(passwords).mode & 0o777, 0o600)
  t.match(readFileSync(passwords, 'utf8'), /^device,password\n"import büro ""1""",[0-9a-f]{64}\n$/)
  t.notMatch(stdout, /[0-9a-f]{64}/)
  t.match(await run(args, ''), { status: 1, stderr: /already exists/ })
})

t.test('an import without stored readings says why and fails', async t => {
  const half = join(folder, 'half.gz')
  writeFileSync(half, gzipSync(readFileSync(join(dataFolder, 'alamosa-minutes.csv'))).subarray(0, 5000))
  const value = { timestamp: '2026-01-01T00:00:00Z', temperature: 999, humidity: -2, pressure: 3 }
  const device = JSON.stringify({ ...value, device: 'import_alamosa' })
  for (const [file, input, stderr] of [
    [join(folder, 'nothing.csv'), '', /file not found: .*nothing\.csv/],
    [folder, '', /is a directory/],
    [half, '', /is truncated/],
    ['-', 'a;b\n1;2\n', /the standard input cannot be imported: the header lacks timestamp, device/],
    ['-', header, /the files contain no readings/],
  ] as const) {
    t.match(await run([file], input), { status: 1, stderr }, String(stderr))
  }
  const empty = join(folder, 'empty.csv')
  writeFileSync(empty, header)
  const { stdout, status } = await run([empty, '-'], device)
  t.equal(status, 3, 'the other file is looked at')
  t.match(stdout, /empty\.csv: contains no readings/)
})

t.test('an ambiguous file stores nothing before an option decides', async t => {
  const file =
    'timestamp;device;temperature;humidity;pressure\n2016-02-02T00:00:00Z;import_alamosa;20;40;1013\n2016-02-02T01:00:00Z;import_alamosa;12,345;40;1013\n'
  const { stdout, ...refused } = await run(['-'], file)
  t.match(refused, { status: 2, stderr: /12,345 in line 3 .* --decimal comma or --decimal point/ })
  t.match(stdout, /stored 0 readings/)
  t.match(await run(['-', '--decimal', 'comma'], file), { status: 0, stdout: /stored 2 readings, rejected 0/ })

  const map = 'timestamp=Time,device==import_alamosa,temperature=Temp,humidity=Hum,pressure=Baro'
  const mapped = ['-', '--map', map, '--json']
  const table = 'Time,Temp,Hum,Baro\n2016-02-03T00:00:00Z,50,40,1013\n'
  const [file0] = JSON.parse((await run([...mapped, '--unit', 'temperature=degF'], table)).stdout).files
  t.match(file0.notices, [/humidity in %, pressure in hPa/])
  await service.allShown()
  t.match((await day('import_alamosa', '2016-02-03'))['temperature'], [{ v: 10 }])
})

t.test('readings that replace another one of the same run are counted, in all of its files and requests', async t => {
  const [one, two] = [join(folder, 'one.csv'), join(folder, 'two.csv')]
  const lineAt = (second: number) => `2016-03-01T00:00:0${second}Z,import_alamosa,1,2,1000\n`
  writeFileSync(one, `${header}${lineAt(0)}${lineAt(1)}`)
  writeFileSync(two, 'Day,Temp\n2016-03-01 00:00:00 UTC,1\n2016-03-02 UTC,1\n2016-03-01T00:00:00Z,3\n')
  const args = ['--map', 'timestamp=Day,temperature=Temp:C,device==import_alamosa']
  const { stdout, status } = await run([one, one])
  t.equal(status, 0)
  t.match(stdout, /stored 2 readings, replaced 2, rejected 0/)
  t.match(stdout, /warning: 2 of 4 lines replaced a value of the same device and time/)
  const mapped = JSON.parse((await run([two, '--json', ...args])).stdout)
  t.match(mapped, { accepted: 1, replaced: 1, rejected: 1, files: [{ accepted: 1, replaced: 1, rejected: 1 }] })
  const long = 'entity_id,state,last_changed\n'
  const state = (value: number) => `sensor.import_alamosa_temperature,${value},2016-03-03T00:00:00Z\n`
  const history = await run(['-', '--preset', 'home-assistant', '--json'], `${long}${state(1)}${state(2)}`)
  t.match(JSON.parse(history.stdout), { accepted: 1, replaced: 1, rejected: 0 })
  const columns = 'hour,note,when,timestamp,device,temperature'
  const unread = await run(['-'], `${columns}\n5,x,7:00,2016-03-04T00:00:00Z,import_alamosa,1\n`)
  t.match(unread.stdout, /ignored columns: note\n/)
  t.match(unread.stdout, /columns with numbers or times that were not read: hour, when\n/)
})

/** Stands in for a server that is in trouble: it cannot be had on demand. */
async function startTrouble(t: Test, troubles: ('reset' | number)[]) {
  const headers = { 'retry-after': '0' }
  const { url, seen } = await startAnswering(t, ({ body }, index, response) => {
    const trouble = troubles[index]
    if (trouble === 'reset') {
      response.destroy()
      return undefined
    }
    if (trouble !== undefined) return { status: trouble, headers, text: '{"title":"storage full"}' }
    const accepted = body.trim().split('\n').length - 1
    const answer = { accepted, replaced: 0, rejected: 0, rejects: [], rejects_truncated: false, ignored_columns: [] }
    return { text: JSON.stringify(answer) }
  })
  return { url, bodies: () => seen.map(({ body }) => body) }
}

t.test('a batch is sent again after a full journal and a lost connection', async t => {
  const { url, bodies } = await startTrouble(t, [503, 'reset'])
  const { stdout, status } = await runImport(url, ['-', '--json'], `${header}a\nb\n`)
  t.match(JSON.parse(stdout), { accepted: 2, complete: true })
  t.equal(status, 0)
  t.strictSame(bodies(), Array(3).fill(`${header}a\nb\n`))
})

t.test('a large file goes in batches of whole lines, each with the header', async t => {
  const { url, bodies } = await startTrouble(t, [])
  const lines = Array.from({ length: 50_000 }, (_, index) => `${index},some text to make it long\n`)
  const { stdout } = await runImport(url, ['-', '--json'], header + lines.join(''))
  t.match(JSON.parse(stdout), { accepted: 50_000 })
  t.ok(bodies().length >= 3)
  t.ok(bodies().every(body => body.startsWith(header)))
  t.equal(
    bodies()
      .map(body => body.slice(header.length))
      .join(''),
    lines.join(''),
  )
})

t.test('an import that fails half way still prints its counts', async t => {
  const { url } = await startTrouble(t, [400])
  const { stdout, status, stderr } = await runImport(url, ['-', '--json'], `${header}a\n`)
  t.match(JSON.parse(stdout), { complete: false, accepted: 0 })
  t.match({ status, stderr }, { status: 1, stderr: 'storage full' })
})
