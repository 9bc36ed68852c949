/** The archive in an S3 store (moto): one accepts all keys, one rejects them, and one is unavailable. */

import { join } from 'node:path'
import t from 'tap'
import { createArchive } from '../../service/lifecycle/archive/archive.ts'
import { openBucket } from '../../service/lifecycle/archive/archive-target.ts'
import { freePort } from '../../store/process/free-port.ts'
import { firstDay, porch, roof, store } from '../service/lifecycle/retention/retention-world.ts'
import { temporaryFolder } from '../support/databases.ts'
import { until } from '../support/processes.ts'
import { makePython } from './python.ts'

const python = await makePython(t, join(import.meta.dirname, 'archive-s3', 'requirements.txt'))

async function startMoto(environment: Record<string, string> = {}): Promise<string> {
  const port = await freePort()
  python.start(['moto_server', '-H', '127.0.0.1', '-p', String(port)], environment)
  const endpoint = `http://127.0.0.1:${port}`
  const answers = () => fetch(`${endpoint}/moto-api/`).then(Boolean, () => false)
  await until('it answers', answers)
  return endpoint
}

const bucketAt = (endpoint: string) =>
  openBucket({
    ...{ url: new URL('s3://days/of/porch'), endpoint, region: 'us-east-1', keyId: 'key', secret: 'secret' },
    signal: new AbortController().signal,
  })

function archiveAt(endpoint: string) {
  const archive = createArchive({
    ...{ target: bucketAt(endpoint), pool: store.postgres, replicas: [{ number: 1, questdb: store.questdb }] },
    ...{ directory: join(temporaryFolder(t), 'spool'), reserveBytes: 0 },
  })
  t.teardown(() => archive.close())
  return archive
}

t.test('a day is written, verified and rewritten, or fails with the reason', async t => {
  const endpoint = await startMoto()
  const away = await freePort()
  await t.rejects(archiveAt(endpoint).keep(1, firstDay), /^archive s3:\/\/days\/of\/porch: .*404/)
  const refusing = await startMoto({ INITIAL_NO_AUTH_ACTION_COUNT: '0' })
  await t.rejects(archiveAt(refusing).keep(1, firstDay), /403 InvalidAccessKeyId/)
  await t.rejects(archiveAt(`http://127.0.0.1:${away}`).keep(1, firstDay), /ECONNREFUSED/)
  t.strictSame(await archiveAt(endpoint).days(0, 10), [])
  await fetch(`${endpoint}/days`, { method: 'PUT' })
  const archive = archiveAt(endpoint)
  await archive.keep(1, firstDay)
  t.ok(await archive.holds(1, firstDay))
  const rowsOf = async () => (await archive.days(0, 10)).flatMap(({ files }) => files.map(({ sums }) => sums[0]))
  t.strictSame(await rowsOf(), ['8'])
  await archive.erase('readings', { numbers: [porch.number], symbols: [porch.symbol], customSeries: [] }, async () => 0)
  t.strictSame(await rowsOf(), ['4'])
  const [day] = await archive.days(0, 10)
  for (const file of day?.files ?? []) t.equal(await archive.fault(file), undefined)
  t.strictSame(
    await bucketAt(endpoint).list('readings/day='),
    day?.files.map(({ key }) => key),
  )
  await archive.erase('readings', { numbers: [roof.number], symbols: [roof.symbol], customSeries: [] }, async () => 0)
  t.strictSame(await bucketAt(endpoint).list('readings/day='), [])
})
