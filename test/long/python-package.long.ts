/** The package of `clients/python` type-checks, writes, queues readings while the service is killed, and reads them back. */

import { join } from 'node:path'
import t from 'tap'
import { temporaryFolder } from '../support/databases.ts'
import { startService } from '../support/service.ts'
import { makePython } from './python.ts'

const own = join(import.meta.dirname, 'python-package')
const sources = join(import.meta.dirname, '..', '..', 'clients', 'python')
const folder = temporaryFolder(t)
const python = await makePython(t, join(own, 'requirements.txt'))
const first = await startService(t)
const password = await first.addDevice('porch')

/** Runs a step of `round.py`. The queue outlives it. */
async function takeStep(step: string, url: string) {
  const words = ['python', join(own, 'round.py'), step, url, 'porch', password, join(folder, 'queue.sqlite')] as const
  return await python.run(words, { folder, environment: { PYTHONPATH: sources } })
}

t.test('the package type-checks', async t => {
  const ignored = ['--disable-error-code=import-untyped']
  const checked = await python.run(['mypy', '--strict', ...ignored, join(sources, 'barograph')], { folder })
  t.equal(checked.status, 0, checked.stdout)
})

t.test('readings of an outage are stored once after it', async t => {
  t.match(await takeStep('write', first.url), { status: 0, stderr: '' })
  await first.killAll()
  t.match(await takeStep('outage', first.url), { status: 0, stderr: '' })
  const second = await startService(t, { dataDirectory: first.dataDirectory })
  t.match(await takeStep('read', second.url), { status: 0, stderr: '' })
})
