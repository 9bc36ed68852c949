/** The version in package.json, and its folder. */

import { readFileSync } from 'node:fs'
import { findPackageJSON } from 'node:module'
import { dirname, join } from 'node:path'
import { bug } from './limits/bug.ts'

export function packageVersion(): string {
  return JSON.parse(readFileSync(join(packageFolder(), 'package.json'), 'utf8')).version
}

export function packageFolder(): string {
  // package.json is one folder nearer to the sources than to the packaged files.
  const file = findPackageJSON(import.meta.url)
  if (file === undefined) throw bug('the program lies in no package')
  return dirname(file)
}
