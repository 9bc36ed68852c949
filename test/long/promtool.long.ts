/** `promtool check metrics` accepts `/metrics`. Debian's package provides promtool, without being installed. */

import { execFileSync, spawnSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { temporaryFolder } from '../support/databases.ts'
import { startService } from '../support/service.ts'

const folder = temporaryFolder(t)
const service = await startService(t)

t.before(() => {
  const settings = { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] as ('ignore' | 'inherit')[] }
  // apt-get drops its privileges for a folder without write access, and prints that.
  execFileSync('apt-get', ['-o', 'APT::Sandbox::User=root', 'download', 'prometheus'], settings)
  const [file = ''] = readdirSync(folder)
  execFileSync('dpkg-deb', ['--extract', file, 'prometheus'], settings)
})

t.test('promtool accepts the metrics', async t => {
  await service.put('nobody', 'x', {})
  const metrics = await (await fetch(`${service.url}/metrics`)).text()
  t.match(metrics, /^# TYPE barograph_/m)
  const promtool = join(folder, 'prometheus', 'usr', 'bin', 'promtool')
  const { status, stdout, stderr } = spawnSync(promtool, ['check', 'metrics'], { input: metrics, encoding: 'utf8' })
  t.strictSame({ status, stdout, stderr }, { status: 0, stdout: '', stderr: '' })
})
