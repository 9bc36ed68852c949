/** The version in package.json. */

import { readFileSync } from 'node:fs'
import { findPackageJSON } from 'node:module'
import { bug } from './limits/bug.ts'

export function packageVersion(): string {
  // package.json is one folder nearer to the sources than to the packaged files.
  const file = findPackageJSON(import.meta.url)
  if (file === undefined) throw bug('the program lies in no package')
  return JSON.parse(readFileSync(file, 'utf8')).version
}
