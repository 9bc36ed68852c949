/** The package installs and starts under each major version of Node that people have, with the npm that comes with it. */

import { delimiter, join } from 'node:path'
import t from 'tap'
import { temporaryFolder } from '../support/databases.ts'
import { startService } from '../support/service.ts'
import { asFromShell, installPackage, npm, pack, runOutside } from './package.ts'

const versions = [
  { node: '18.20.8', npm: '10.8.2' },
  { node: '20.20.2', npm: '10.8.2' },
  { node: '22.22.3', npm: '10.9.8' },
  { node: '24.21.0', npm: '11.19.1' },
]

const base = temporaryFolder(t)
const tarball = await pack(base)

for (const version of versions) {
  t.test(`Node ${version.node} with npm ${version.npm}`, async t => {
    const folder = temporaryFolder(t)
    await npm(['install', '--prefix', folder, `node@${version.node}`, `npm@${version.npm}`], folder)
    const folders = [join(folder, 'node_modules', 'node', 'bin'), join(folder, 'node_modules', '.bin')]
    const environment = { PATH: [...folders, process.env['PATH']].join(delimiter) }
    t.match(await runOutside(['node', '--version'], folder, environment), { stdout: `v${version.node}\n` })
    t.match(await runOutside(['npm', '--version'], folder, environment), { stdout: `${version.npm}\n` })

    const command = await installPackage(tarball, join(folder, 'elsewhere'), environment)
    t.match(await runOutside([command, '--version'], folder, environment), { status: 0, stderr: '' })
    const service = await startService(t, { command: [...asFromShell, command, 'start'], environment })
    const password = await service.addDevice('kitchen')
    const reading = { device: 'kitchen', temperature: 20, humidity: 50, pressure: 1000 }
    t.equal((await service.put('kitchen', password, reading)).status, 200)
    t.equal((await fetch(`${service.url}/`)).status, 200, 'the web pages are there')
    t.equal(await service.end('SIGTERM'), 0)
  })
}
