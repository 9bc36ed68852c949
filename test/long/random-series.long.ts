/** Property tests of `npm test`, repeated often enough to reach rare cases. */

import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'

const root = join(import.meta.dirname, '../..')
const hasSeries = (file: string) =>
  /support\/runs\.ts|properties\.ts|^import '\.\//m.test(readFileSync(join(root, file), 'utf8'))

t.setTimeout(0)
for (const file of globSync('test/*/**/*.test.ts', { cwd: root }).filter(hasSeries).sort()) {
  t.spawn(process.execPath, ['./test/support/test-file.ts', file], {
    cwd: root,
    env: { ...process.env, LONG_SERIES: '1' },
    timeout: 0,
  })
}
