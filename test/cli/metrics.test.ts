/** `barograph metrics` against a real service, and the metrics of a device. */

import t from 'tap'
import { barograph } from '../support/command-line.ts'
import { startService, withoutQuestdb } from '../support/service.ts'

const service = await startService(t, { environment: { ...withoutQuestdb, RANGE_PRESSURE: '500..1200' } })
const environment = { DATA_DIR: service.dataDirectory, PORT: new URL(service.url).port }
const run = (...words: string[]) => barograph(words, { environment })
const json = async (...words: string[]) => JSON.parse((await run(...words, '--json')).stdout)

t.test('metrics are listed, added, changed and removed', async t => {
  t.strictSame((await run('metrics', 'list')).stdout.split('\n'), [
    'name                title            unit  kind   range',
    'temperature         Temperature      °C    gauge  -90..85',
    'humidity            Humidity         %     gauge  0..103',
    'pressure            Pressure         hPa   gauge  500..1200',
    'battery_voltage     Battery voltage  V     gauge  0..100',
    'battery_percentage  Battery charge   %     gauge  0..110',
    '',
  ])
  t.match(await json('metrics', 'add', 'co2'), { name: 'co2', unit: 'ppm', title: 'CO₂', min: 0 })
  const words = [
    '--title',
    'Sap flow',
    '--unit',
    'l/h',
    '--kind',
    'rate',
    '--decimals',
    '3',
    '--min',
    '-1',
    '--max',
    '1e3',
  ]
  t.match(await run('metrics', 'add', 'sap_flow', ...words, '--quality', '{"spike":5}'), {
    status: 0,
    stdout: /^name +sap_flow\ntitle +Sap flow\nunit +L\/h\n/,
    stderr: '',
  })
  const set = ['--unit', 'none', '--max', 'none', '--quality', 'none', '--color', '#00ff00', '--position', '0']
  t.match(await json('metrics', 'set', 'sap_flow', ...set), {
    unit: null,
    max: null,
    min: -1,
    quality: null,
    color: '#00ff00',
    decimals: 3,
  })
  t.match(await json('metrics', 'list'), [{ name: 'sap_flow' }, { name: 'temperature' }])
  t.strictSame((await run('metrics', 'list', '--search', 'SAP')).stdout.split('\n'), [
    'name      title     unit  kind  range',
    'sap_flow  Sap flow  -     rate  -1..',
    '',
  ])
  t.match(await run('metrics', 'remove', 'sap_flow'), { status: 0, stdout: 'removed sap_flow\n' })
  t.match(await json('metrics', 'remove', 'co2'), { removed: 'co2' })
  t.match(await run('metrics', 'list', '--search', 'sap'), { stdout: 'no metrics\n' })
  t.match(await run('metrics', 'list', '--catalogue', '--search', 'pm2_5'), {
    stdout: /^pm25 +PM2\.5 +µg\/m³ +gauge +-15\.\.10000 +pm2_5/m,
  })
  t.ok((await json('metrics', 'list', '--catalogue')).length > 60)
})

t.test('a long list is read to its end', async t => {
  for (let at = 0; at < 105; at++) await service.admin('POST', '/metrics', { name: `long_${at}` })
  t.equal((await json('metrics', 'list', '--search', 'long')).length, 105)
})

t.test('a device lists its metrics', async t => {
  t.match(await run('metrics', 'list', '--search', 'co2'), { stdout: 'no metrics\n' })
  t.match(await json('devices', 'add', 'lab', '--metrics', 'co2,temperature'), { device: 'lab' })
  t.match(await run('metrics', 'list', '--search', 'co2'), { stdout: /CO₂/ }, 'which the catalogue knew')
  t.match(await json('devices', 'show', 'lab'), { metrics: ['co2', 'temperature'] })
  t.match(await run('devices', 'set', 'lab', '--metrics', 'co2, sap_flow'), {
    status: 1,
    stderr: /metrics\[1\]: "sap_flow" is no metric/,
  })
  t.match(await run('metrics', 'remove', 'co2'), { status: 1, stderr: /a device has or lists it/ })
  t.match(await json('devices', 'set', 'lab', '--metrics', 'none'), { metrics: null })
})

t.test('what cannot be done is told in a sentence', async t => {
  t.match(await run('metrics', 'set', 'rain', '--decimals', '1'), { status: 1, stderr: 'barograph: metric unknown\n' })
  t.match(await run('metrics', 'set', 'rain'), { status: 2, stderr: /nothing to change/ })
  t.match(await run('metrics', 'set', '../x', '--decimals', '1'), { status: 2, stderr: /is not a valid metric name/ })
  t.match(await run('metrics', 'add', 'CO2'), { status: 1, stderr: /name: must be 1 to 48 of a-z/ })
  t.match(await run('metrics', 'add', 'co2_ppm'), { status: 1, stderr: /name: is co2/ })
  t.match(await run('metrics', 'add', 'x', '--unit', 'furlong'), {
    status: 1,
    stderr: /unit: is no unit that is known/,
  })
  t.match(await run('metrics', 'add', 'x', '--kind', 'vector'), {
    status: 2,
    stderr: /Allowed choices are gauge, counter/,
  })
  t.match(await run('metrics', 'add', 'x', '--decimals', 'two'), { status: 2, stderr: /Expected a whole number/ })
  t.match(await run('metrics', 'set', 'pressure', '--unit', 'Pa'), { status: 1, stderr: /unit: stays as it is/ })
})
