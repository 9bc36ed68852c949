/** A test file whose parts load slowly runs all of their tests. */

import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import t from 'tap'

const first = `import t from '${import.meta.resolve('tap')}'
t.teardown(() => undefined)
t.test('the first part', async t => t.pass())
`
const second = "t.test('the second part', async t => t.pass())"

function run(source: string) {
  const words = [
    join(import.meta.dirname, 'support/test-file.ts'),
    `data:text/javascript,${encodeURIComponent(source)}`,
  ]
  return spawnSync(process.execPath, words, { encoding: 'utf8' })
}

t.test('a part that waits before its tests is awaited', async t => {
  const { status, stdout } = run(`${first} await new Promise(done => setTimeout(done, 200))\n${second}`)
  t.equal(status, 0)
  t.match(stdout, /^ok 2 - the second part/m)
})

t.test('a part that cannot be loaded fails the file', async t => {
  t.not(run(`${first} await new Promise(() => undefined)\n${second}`).status, 0, 'waits forever')
  t.not(run(`${first} await new Promise(done => setTimeout(done, 200)); throw new Error('late')`).status, 0, 'throws')
})
