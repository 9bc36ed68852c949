/** `npm run docs`: writes the pages of `docs/` that are made of the code. */

import { readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { commandPage, withSettings } from './docs/pages.ts'

const folder = resolve(import.meta.dirname, '..', 'docs')
const settingsFile = join(folder, 'settings.md')
const pages = {
  [settingsFile]: withSettings(readFileSync(settingsFile, 'utf8')),
  [join(folder, 'cli.md')]: await commandPage(),
}
for (const [file, text] of Object.entries(pages)) writeFileSync(file, text)
