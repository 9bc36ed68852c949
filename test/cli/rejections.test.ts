/** `barograph rejections` against a real service that rejected readings. */

import t from 'tap'
import { barograph } from '../support/command-line.ts'
import { startService, withoutQuestdb } from '../support/service.ts'

const service = await startService(t, { environment: withoutQuestdb })
const environment = { DATA_DIR: service.dataDirectory, PORT: new URL(service.url).port }
const run = (words: string) => barograph(words.split(' '), { environment })

const { body: devices } = await service.admin('POST', '/devices', [{ name: 'porch' }])
const [{ password } = { password: '' }] = devices as { password: string }[]

async function put(temperature: unknown): Promise<number> {
  const response = await fetch(`${service.url}/api/log`, {
    method: 'PUT',
    headers: {
      'content-type': 'application/json',
      authorization: `Basic ${Buffer.from(`porch:${password}`).toString('base64')}`,
    },
    body: JSON.stringify({ device: 'porch', temperature }),
  })
  await response.arrayBuffer()
  return response.status
}

t.test('what was rejected is printed, newest first, alike ones once', async t => {
  t.match(await run('rejections'), { status: 0, stdout: /^0 rejected since \S+Z\n$/, stderr: '' })
  for (const temperature of ['warm', 200, 200]) t.not(await put(temperature), 200)
  const { stdout } = await run('rejections')
  const lines = stdout.trimEnd().split('\n')
  t.match(lines[0], /^3 rejected since /)
  t.match(lines[1], /^latest +way +device +sender +count +reason$/)
  t.match(lines[2], /Z +put +porch +device porch +2 +.*temperature.*must be between/)
  t.match(lines[3], /Z +put +porch +device porch +1 +.*temperature.*must be a number/)
  t.equal(lines.length, 4)
})

t.test('some of them are asked for', async t => {
  const json = async (words: string) => JSON.parse((await run(`rejections --json ${words}`)).stdout)
  t.match(await json('--limit 1'), { rejected: 3, rejections: [{ way: 'put', device: 'porch', count: 2 }] })
  t.equal((await json('--device porch')).rejections.length, 2)
  t.strictSame((await json('--device cellar')).rejections, [])
  t.strictSame((await json('--way mqtt')).rejections, [])
  t.match(await run('rejections --limit 0'), { status: 2, stderr: /from 1 to 1000/ })
  t.match(await run('rejections --way post'), { status: 2, stderr: /Allowed choices are put, batch/ })
})
