/** The generated pages equal the output of the present code. */

import { readFileSync } from 'node:fs'
import { test } from 'tap'
import { commandPage, withSettings } from '../../script/docs/pages.ts'
import { settingGroups } from '../../service/settings/setting-groups.ts'
import { settingRows } from '../../service/settings/start-help.ts'

const textOf = (name: string) => readFileSync(new URL(`../../docs/${name}`, import.meta.url), 'utf8')
const remedy = 'npm run docs writes it'

test('docs/settings.md has the settings of the schema, each below its subject', async t => {
  const page = textOf('settings.md')
  t.equal(page, withSettings(page), remedy)
  t.strictSame(
    settingGroups().flatMap(({ rows }) => rows),
    settingRows(),
    'none is left out',
  )
  t.throws(() => withSettings('# Settings'), /has no/)
})

test('docs/cli.md has every command with its arguments, its options and its examples', async t => {
  const page = textOf('cli.md')
  t.equal(page, await commandPage(), remedy)
  t.match(page, '### devices add\n')
  t.match(page, '```\nbarograph devices add [options] <name>\n```')
  t.match(page, /\| `--location-short <text>` \| .+ \|/)
  t.match(page, 'barograph metrics add co2')
})
