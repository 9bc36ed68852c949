/** An import of content files that is killed in the middle, with the service and its databases. */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { contentFileLines, type GeneratedFile, generateContentFiles } from '../../cli/demo/content-file-generator.ts'
import { startService, withoutQuestdb } from '../support/service.ts'

const filesPerBatch = 500
const batchCount = 40
const killBehindBatch = 6

function tokenIn(dataDirectory: string): string {
  return readFileSync(join(dataDirectory, 'secrets', 'admin-token'), 'utf8').trim()
}

t.test('a kill in the middle of an import leaves whole batches, and the import can be run again', async t => {
  const service = await startService(t, { environment: withoutQuestdb })
  const { dataDirectory } = service
  const files = [...generateContentFiles({ seed: 9, count: filesPerBatch * batchCount })]
  const batches = Array.from({ length: batchCount }, (_, index) => {
    return files.slice(index * filesPerBatch, (index + 1) * filesPerBatch)
  })

  async function send(url: string, path: string, body: string | undefined): Promise<string> {
    const headers = { authorization: `Bearer ${tokenIn(dataDirectory)}`, 'content-type': 'application/x-ndjson' }
    const init = body === undefined ? { headers } : { method: 'POST', headers, body }
    const response = await fetch(`${url}/api/admin/content-files/${path}`, init)
    if (response.status !== 200) throw new Error(`${response.status} ${await response.text()}`)
    return await response.text()
  }

  let acknowledged = 0
  let killed: Promise<void> | undefined
  const sendAll = async () => {
    for (const batch of batches) {
      await send(service.url, 'import', contentFileLines(batch))
      acknowledged++
      // At some moment of one of the next batches.
      if (acknowledged === killBehindBatch) setTimeout(() => (killed = service.killAll()), 40 + 200 * Math.random())
    }
  }
  const unknown = await fetch(`${service.url}/api/admin/content-files/export`)
  t.equal(unknown.status, 401, 'nobody comes in without the token')
  await t.rejects(sendAll())
  await killed
  t.ok(acknowledged >= killBehindBatch && acknowledged < batchCount, `${acknowledged} batches were acknowledged`)

  const again = await startService(t, { dataDirectory, environment: withoutQuestdb })
  const kept = idsIn(await send(again.url, 'export', undefined))
  const counts = batches.map(batch => batch.filter(({ id }) => kept.has(id)).length)
  t.ok(
    counts.every((count, index) => count === filesPerBatch || (index >= acknowledged && count === 0)),
    counts.join(' '),
  )
  for (const batch of batches) await send(again.url, 'import', contentFileLines(batch))
  t.equal(idsIn(await send(again.url, 'export', undefined)).size, files.length)
})

function idsIn(lines: string): Set<number> {
  const texts = lines.split('\n').slice(0, -1)
  return new Set(texts.map(line => (JSON.parse(line) as GeneratedFile).id))
}
