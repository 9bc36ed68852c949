/**
 * Runs the two commands of the README as root, on a fresh Debian, in a fresh clone of the checked-out commit. Needs root and
 * debootstrap. Their output is kept in test/long/printed/.
 */

import { execFileSync } from 'node:child_process'
import { join, resolve } from 'node:path'
import t, { type Test } from 'tap'
import { until } from '../support/processes.ts'
import { type DebianRun, makeDebian } from './debian.ts'
import { keepPrinted } from './printed.ts'

const root = resolve(import.meta.dirname, '..', '..')
const clone = '/opt/barograph'

/** The names of the releases in debootstrap. */
const releases = { 'Debian 12': 'bookworm', 'Debian 13': 'trixie' }

/**
 * Tests of the parts that script/bootstrap installs besides npm's packages: Java with Maven, PostgreSQL as another user than root,
 * openssl, ps and Chromium. The checks run first.
 */
const testFiles = [
  'test/service/running.test.ts',
  'test/service/kind-changes.test.ts',
  'test/cli/address.test.ts',
  'test/api/content-files/browser.test.ts',
]

/** The commands get a free port and a shorter list of tests, but are unchanged otherwise. */
const environment = { PORT: '0' }

for (const [release, suite] of Object.entries(releases)) {
  t.test(`${release}: script/demo and script/test succeed`, async t => {
    const debian = makeDebian(t, suite)
    execFileSync('git', ['clone', '--quiet', '--no-hardlinks', root, join(debian.root, clone)])
    await showsDemo(t, debian.start(clone, ['script/demo'], environment), `${suite}-demo.txt`)
    const again = debian.start(clone, ['script/demo'], environment)
    await until('the demo runs', () => /Ctrl-C stops all/.test(again.printed()) || again.status() !== undefined)
    t.notMatch(again.printed(), 'Missing here', 'the second time nothing is installed')
    again.kill('SIGINT')
    t.equal(await again.ended, 0)

    const tests = debian.start(clone, ['script/test', ...testFiles])
    const status = await tests.ended
    keepPrinted(`${suite}-test.txt`, tests.printed())
    t.equal(status, 0)
    t.match(tests.printed(), /^\d+ passed, 0 failed$/m)
  })
}

async function showsDemo(t: Test, demo: DebianRun, file: string): Promise<void> {
  await until('the demo has started', () => /Ctrl-C stops all/.test(demo.printed()) || demo.status() !== undefined)
  keepPrinted(file, demo.printed())
  const url = /^Open in a browser: (\S+)$/m.exec(demo.printed())?.[1]
  if (url === undefined) throw new Error(`the demo did not start: ${demo.printed()}`)
  t.match(await (await fetch(url)).text(), /<script[^>]* src="/, 'the page was built')
  t.ok(demo.printed().split('\n').length < 60, 'apt-get and npm print no more than what is said')
  demo.kill('SIGINT')
  t.equal(await demo.ended, 0)
}
