/** `barograph retention` against a real service whose setting makes years of readings due at once. */

import t from 'tap'
import { dayMs } from '../../lifecycle/retention/horizon.ts'
import { barograph } from '../support/command-line.ts'
import { startService } from '../support/service.ts'
import { waitFor } from '../support/wait-for.ts'

const today = Math.floor(Date.now() / dayMs) * dayMs
const day = (age: number) => new Date(today - age * dayMs).toISOString().slice(0, 10)
const first = await startService(t)
await first.addDevice('porch')
const rows = [100, 50, 3].map(age => `${day(age)}T12:00:00Z,porch,1,2,1000\n`)
await first.import(`timestamp,device,temperature,humidity,pressure\n${rows.join('')}`)
await waitFor('all is applied', async () => {
  const { body } = await first.admin('GET', '/status')
  return (body as { lag: { readings: number } }).lag.readings === 0
})
await first.end('SIGTERM')
const { dataDirectory } = first
const service = await startService(t, { dataDirectory, environment: { RETENTION_DAYS: '10' } })
const environment = { DATA_DIR: dataDirectory, PORT: new URL(service.url).port }
const run = (words: string) => barograph(words.split(' '), { environment })
const retention = async () =>
  ((await service.admin('GET', '/status')).body as { retention: { waiting: object | null; last_run: string | null } })
    .retention

t.test('the status and doctor tell what waits, and by which command it is confirmed', async t => {
  await waitFor('it has looked', async () => (await retention()).last_run !== null)
  const before = new Date(Math.floor(Date.now() / dayMs) * dayMs - 10 * dayMs).toISOString().slice(0, 10)
  t.match(await retention(), { waiting: { from: day(100), before, days: 2, reason: 'several_days' } })
  const command = `barograph retention confirm ${before}`
  t.match(await run('status'), { status: 0, stdout: new RegExp(`problem +raw readings of 2 days from .*: ${command}`) })
  t.match(await run('doctor'), { status: 1, stdout: new RegExp(`problem +retention .*: ${command}`) })
  t.match(await run(`retention confirm ${day(2)}`), { status: 1, stderr: /no days before .* wait for a confirmation/ })
  t.match(await run(`retention confirm ${day(60)} --json`), { status: 0, stdout: `{"before":"${day(60)}"}\n` })
  t.equal((await retention()).waiting, null)
})
